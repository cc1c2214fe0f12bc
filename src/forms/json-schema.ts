import type { Json } from "../core/message/content.ts";

/** A JSON Schema, or a part of one. Only the keywords that are read are known. */
export type SchemaObject = { readonly [key: string]: Json };

/** A schema may refer to itself. */
const DEEPEST = 8;

/** Returns a schema without the reference, or the `allOf` around one part, that it consists of. */
export function resolved(schema: Json | undefined, root: Json | undefined, depth = 0): Json | undefined {
  if (!isObject(schema) || depth > DEEPEST) return schema;
  const { $ref, allOf, ...rest } = schema;
  if (typeof $ref === "string") {
    const target = resolved(targetOf($ref, root), root, depth + 1);
    return isObject(target) ? { ...target, ...rest } : undefined;
  }
  if (Array.isArray(allOf) && allOf.length === 1) {
    const inner = resolved(allOf[0] as Json, root, depth + 1);
    return isObject(inner) ? { ...inner, ...rest } : schema;
  }
  return schema;
}

function targetOf(reference: string, root: Json | undefined): Json | undefined {
  if (!reference.startsWith("#")) return undefined;
  let at: Json | undefined = root;
  for (const key of reference.slice(1).split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

export function isObject(value: Json | undefined): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textIn(schema: SchemaObject, key: string): string | undefined {
  const value = schema[key];
  return typeof value === "string" ? value : undefined;
}

export function numberIn(schema: SchemaObject, key: string): number | undefined {
  const value = schema[key];
  return typeof value === "number" ? value : undefined;
}

export function listIn(schema: SchemaObject, key: string): readonly Json[] | undefined {
  const value = schema[key];
  return Array.isArray(value) ? value : undefined;
}

/** A value as text, a string without quotes. */
export function plainValue(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

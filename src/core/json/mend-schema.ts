import { isRecord } from "./is-record.ts";
import { isDeeperThan } from "./json-depth.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Property names that every provider takes. */
const PROPERTY = /^[\w.-]{1,64}$/;
const MOST_DEPTH = 24;
const MOST_CHARACTERS = 16_384;
const JOINED = ["anyOf", "oneOf", "allOf"] as const;

/**
 * Returns a tool's input schema so that the models' providers take it, or undefined if that is not possible. The mended
 * schema never allows less than the server's own one, which decides in the end.
 */
export function mendSchema(schema: unknown): Schema | undefined {
  if (schema === undefined) return { type: "object", properties: {} };
  if (!isPlainObject(schema) || isDeeperThan(schema, MOST_DEPTH)) return undefined;
  if (JSON.stringify(schema).length > MOST_CHARACTERS) return undefined;
  if (schema["type"] !== undefined && schema["type"] !== "object") return undefined;
  const mended = withoutTopLevelChoice(schema);
  return isTaken(mended) ? (mendedInside(mended) as Schema) : undefined;
}

/** The input is an object, and its schema no choice between several: their properties become optional ones. */
function withoutTopLevelChoice(schema: Schema): Schema {
  const {
    $id: _id,
    $schema: _schema,
    enum: _enum,
    not: _not,
    if: _if,
    then: _then,
    else: _else,
    ...own
  } = schema;
  const rest: Record<string, unknown> = { ...own, type: "object" };
  const branches = JOINED.flatMap((key) => {
    const listed: unknown = rest[key];
    delete rest[key];
    return Array.isArray(listed) ? (listed as unknown[]) : [];
  });
  // Each branch may allow what the others do not know.
  if (branches.length > 0) delete rest["additionalProperties"];
  const known = [...branches, own].flatMap((one) =>
    isPlainObject(one) && isPlainObject(one["properties"]) ? Object.entries(one["properties"]) : [],
  );
  return { ...rest, properties: Object.fromEntries(known) };
}

/** A list needs a schema of its items. */
function mendedInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mendedInside);
  if (!isPlainObject(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mendedInside(one)]));
  return inner["type"] === "array" && inner["items"] === undefined ? { ...inner, items: {} } : inner;
}

/** Whether a schema has no reference to other documents, and no property with a name that providers refuse. */
function isTaken(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isTaken);
  if (!isPlainObject(value)) return true;
  const { $ref: reference, properties } = value;
  if (typeof reference === "string" && !reference.startsWith("#")) return false;
  if (isPlainObject(properties) && !Object.keys(properties).every((name) => PROPERTY.test(name)))
    return false;
  return Object.values(value).every(isTaken);
}

function isPlainObject(value: unknown): value is Schema {
  return isRecord(value) && !Array.isArray(value);
}

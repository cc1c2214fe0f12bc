import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { Action } from "../actions/declare/action.ts";
import type { Json } from "../core/message/content.ts";
import { isRecord } from "../core/json/is-record.ts";
import type { ToolSchema } from "./mcp-calls.ts";

/** What a client without tasks may get instead of an output: see `waitingResult`. */
const WAITING = {
  type: "object",
  properties: { status: { const: "working" }, taskId: { type: "string" } },
  required: ["status", "taskId"],
} as const;

/**
 * Returns the schema that each output of an action fits. Undefined if the action does not check its outputs, if they are
 * no objects, or if the schema does not describe itself as JSON Schema.
 */
export async function outputSchemaOf({
  returns,
  strictOutput = true,
}: Pick<Action, "returns" | "strictOutput">): Promise<ToolSchema | undefined> {
  if (returns === undefined || !strictOutput) return undefined;
  try {
    const schema = await jsonSchemaOf(returns);
    if (!isRecord(schema)) return undefined;
    const kinds = [schema["type"] ?? schema["anyOf"] ?? schema["oneOf"]].flat();
    const isObject = kinds.every(
      (kind) => kind === "object" || (isRecord(kind) && kind["type"] === "object"),
    );
    return isObject ? { ...(schema as { readonly [key: string]: Json }), type: "object" } : undefined;
  } catch {
    // It has something that JSON Schema cannot describe, such as a transformation.
    return undefined;
  }
}

/** Returns the schema of results for clients without tasks: an output, or word of a call that waits. */
export function withWaiting({ $schema, ...schema }: ToolSchema): ToolSchema | undefined {
  // A reference to a part of the schema would lead nowhere.
  if (JSON.stringify(schema).includes('"$ref"')) return undefined;
  return { ...($schema !== undefined && { $schema }), type: "object", anyOf: [schema, WAITING] };
}

/** Returns the schema of what a schema makes of a value. An unchecked one says nothing about values. */
async function jsonSchemaOf(returns: FlexibleSchema): Promise<unknown> {
  const standard = typeof returns === "object" && "~standard" in returns ? returns["~standard"] : undefined;
  const described: unknown = standard && Reflect.get(standard, "jsonSchema");
  if (isRecord(described) && typeof described["output"] === "function")
    return described["output"]({ target: "draft-07" }) as unknown;
  const schema = asSchema(returns);
  return schema.validate === undefined ? undefined : schema.jsonSchema;
}

import { isRecord } from "../core/json/is-record.ts";
import { mendSchema } from "../core/json/mend-schema.ts";

type Schema = Readonly<Record<string, unknown>>;

const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "object",
  "null",
]);

/** Returns the schema of a tool's input that models' servers take. Undefined if there is none. */
export function toolSchema(parameters: unknown, required: unknown): Schema | undefined {
  const properties = parameters ?? {};
  if (!isPlain(properties)) return undefined;
  const names = Array.isArray(required)
    ? required.filter((name) => Object.hasOwn(properties, String(name)))
    : [];
  const mended = mendSchema({ type: "object", properties, required: [...new Set(names.map(String))] });
  if (mended === undefined || !isPlain(mended["properties"])) return undefined;
  return Object.values(mended["properties"]).every(isSound) ? mended : undefined;
}

/** A server that meets a word which it does not know refuses the whole call of the model. */
function isSound(schema: unknown): boolean {
  if (!isPlain(schema) || "$ref" in schema || "pattern" in schema) return false;
  const { description, enum: values, items, properties, type } = schema;
  if (description !== undefined && typeof description !== "string") return false;
  if (values !== undefined && !(Array.isArray(values) && values.length > 0)) return false;
  if (type !== undefined && ![type].flat().every((one) => TYPES.has(one))) return false;
  if (items !== undefined && !isSound(items)) return false;
  return properties === undefined || (isPlain(properties) && Object.values(properties).every(isSound));
}

function isPlain(value: unknown): value is Schema {
  return isRecord(value) && !Array.isArray(value);
}

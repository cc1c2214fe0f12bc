import { jsonSchema } from "ai";
import type { JSONSchema7, Schema } from "ai";
import { isRecord } from "./is-record.ts";

/** A value that is an object, as far as anybody has checked it. */
export type ObjectInput = Readonly<Record<string, unknown>>;

/**
 * Returns a JSON Schema that checks only the outside of an input: an object with all required properties. The service
 * behind it checks the rest. So nobody is asked about an input that certainly cannot fit.
 *
 * @param isClosed other properties are refused
 */
export function objectSchema(schema: JSONSchema7, isClosed = false): Schema<ObjectInput> {
  const { properties = {}, required = [] } = schema;
  return jsonSchema<ObjectInput>(schema, {
    validate: (value) => {
      if (!isRecord(value) || Array.isArray(value)) return refused([], "must be an object");
      const missing = required.find((name) => value[name] === undefined);
      if (missing !== undefined) return refused([missing], "is missing");
      const extra = isClosed
        ? Object.keys(value).find((name) => !Object.hasOwn(properties, name))
        : undefined;
      if (extra === undefined) return { success: true, value };
      return refused([extra], `is not known. Known are: ${Object.keys(properties).join(", ")}`);
    },
  });
}

function refused(
  path: readonly string[],
  message: string,
): { readonly success: false; readonly error: Error } {
  return { success: false, error: new Error(message, { cause: [{ path, message }] }) };
}

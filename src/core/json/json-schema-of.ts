import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { Json } from "../message/content.ts";
import { ConfigurationError } from "../base/errors.ts";

/**
 * Refuses a schema whose library cannot describe any as JSON Schema.
 *
 * @param of names the part of the bot that has the schema
 * @throws {ConfigurationError} `schema-undescribed`
 */
export function checkDescribed(schema: FlexibleSchema, of: string): void {
  const standard = typeof schema === "object" && "~standard" in schema ? schema["~standard"] : undefined;
  if (standard === undefined || standard.vendor === "zod" || "jsonSchema" in standard) return;
  throw new ConfigurationError(
    "schema-undescribed",
    `The schema of ${of} is one of "${standard.vendor}", which does not describe itself as JSON Schema. Use zod, a library whose schemas have ~standard.jsonSchema, or wrap it: jsonSchema({ ... }, { validate }) of the AI SDK.`,
  );
}

/**
 * Returns a schema as JSON Schema. `null` if its library can describe schemas, but not this one: one of a `Date`, for
 * example. No form can ask for it.
 *
 * @throws {ConfigurationError} `schema-undescribed` if the schema's library cannot describe any
 */
export async function jsonSchemaOf(schema: FlexibleSchema): Promise<Json> {
  checkDescribed(schema, "a question");
  try {
    return JSON.parse(JSON.stringify(await asSchema(schema).jsonSchema)) as Json;
  } catch {
    // The library says why, for developers. People only hear that the bot cannot ask this.
    return null;
  }
}

import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { Json } from "./content.ts";
import { ConfigurationError } from "./errors.ts";

/**
 * Returns a schema as JSON Schema. `null` if its library can describe schemas, but not this one: one of a `Date`, for
 * example. No form can ask for it.
 *
 * @throws {ConfigurationError} `question-schema` if the schema's library cannot describe any
 */
export async function jsonSchemaOf(schema: FlexibleSchema): Promise<Json> {
  const standard = typeof schema === "object" && "~standard" in schema ? schema["~standard"] : undefined;
  if (standard !== undefined && standard.vendor !== "zod" && !("jsonSchema" in standard))
    throw new ConfigurationError(
      "question-schema",
      `The schema of a question is one of "${standard.vendor}", which does not describe itself as JSON Schema. Use zod, a library whose schemas have ~standard.jsonSchema, or wrap it: jsonSchema({ ... }, { validate }) of the AI SDK.`,
    );
  try {
    return JSON.parse(JSON.stringify(await asSchema(schema).jsonSchema)) as Json;
  } catch {
    // The library says why, for developers. People only hear that the bot cannot ask this.
    return null;
  }
}

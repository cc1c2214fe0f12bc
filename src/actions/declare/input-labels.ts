import { asSchema } from "ai";
import { z } from "zod";
import { inLanguage } from "../../core/text/local-text.ts";
import { shortDescription } from "../../core/text/short-description.ts";
import type { Action } from "./action.ts";

const DEPTH = 3;

interface Described {
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

const described: z.ZodType<Described> = z.object({
  description: z.string().optional().catch(undefined),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/**
 * Returns names of inputs for people, by path: the action's `labels`, or else short descriptions of its schema.
 *
 * @param language that of the person who asks
 */
export async function inputLabels(
  { inputSchema, labels = {} }: Pick<Action, "inputSchema" | "labels">,
  language: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const look = (schema: unknown, path: readonly string[]): void => {
    const { description, properties = {} } = described.catch({}).parse(schema);
    const text = shortDescription(description ?? "");
    if (path.length > 0 && text !== undefined) found[path.join(".")] = text;
    if (path.length >= DEPTH) return;
    for (const [key, inner] of Object.entries(properties)) look(inner, [...path, key]);
  };
  look(await asSchema(inputSchema).jsonSchema, []);
  for (const [path, label] of Object.entries(labels)) found[path] = inLanguage(label, language);
  return found;
}

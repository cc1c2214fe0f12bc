import type { UIMessage } from "ai";
import { z } from "zod";

const metadataSchema = z.object({ recites: z.string() });

/** Returns the question of a turn whose answer is known already. Versions before 0.2.0 ask so; answered until 0.3.0. */
export function recitingMessage(id: string, introduction: string, text: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text: introduction }], metadata: { recites: text } };
}

/** Returns the known answer of a turn. Undefined if its model has to be asked. */
export function recitedText(messages: readonly UIMessage[]): string | undefined {
  const parsed = metadataSchema.safeParse(messages[0]?.metadata);
  return parsed.success ? parsed.data.recites : undefined;
}

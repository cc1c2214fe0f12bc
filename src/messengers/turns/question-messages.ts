import type { UIMessage } from "ai";
import { z } from "zod";
import { InvalidInputError } from "../../core/base/errors.ts";
import { fromPeople } from "./own-marks.ts";

/** The question of a turn: a text, or AI SDK user messages. */
export type SubmissionInput = string | UIMessage | readonly UIMessage[];

const MOST_CHARACTERS = 500_000;

const messageSchema = z.looseObject({
  role: z.literal("user"),
  parts: z.array(z.looseObject({ type: z.string() })).min(1),
});
const messagesSchema = z.array(messageSchema).min(1);

/**
 * Returns the messages of a turn that the bot's own code begins.
 *
 * @throws {InvalidInputError} `submission-invalid`, `submission-too-large`
 */
export function questionsOf(input: SubmissionInput, newId: () => string): readonly UIMessage[] {
  const list = typeof input === "string" ? textMessage(input, newId()) : input;
  const messages = checked(messagesSchema, [list].flat(), "messages");
  if (messages.every(({ parts }) => parts.every(isBlank)))
    throw new InvalidInputError(
      "submission-empty",
      "The messages of the submission have no text and no files. Ask something.",
    );
  if (JSON.stringify(messages).length > MOST_CHARACTERS)
    throw new InvalidInputError(
      "submission-too-large",
      `The messages have more than ${MOST_CHARACTERS} characters as JSON. Store large files elsewhere, and let a tool read them.`,
    );
  return (messages as unknown as UIMessage[]).map((message) => ({
    ...message,
    // The text may come from people, for example from users of a dashboard.
    parts: message.parts.map((part) =>
      part.type === "text" ? { ...part, text: fromPeople(part.text) } : part,
    ),
  }));
}

function isBlank(part: { readonly type: string; readonly text?: unknown }): boolean {
  return part.type === "text" && typeof part.text === "string" && part.text.trim() === "";
}

function textMessage(text: string, id: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** Parses a value. The error names the place of the first mistake, never its value (I10). */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
  throw new InvalidInputError(
    "submission-invalid",
    `The ${what} of the submission cannot be used${place === "" ? "" : ` (at ${place})`}. Messages are a text, or AI SDK messages with the role "user" and at least one part; an address is what getTurn()?.answerTo has.`,
  );
}

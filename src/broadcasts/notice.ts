import type { NewBroadcast } from "../core/turn/broadcast.ts";
import type { ChatTarget } from "../core/chat/chat-target.ts";
import { FLAG, optionProblem, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import type { Content } from "../core/message/content.ts";
import { errorCode, InvalidInputError, SwitchboardError } from "../core/base/errors.ts";
import type { Address } from "../core/chat/surface.ts";

/** The chat of a notice, and what the model learns about it. */
export interface NoticeOptions {
  /** The key of the messenger in `getMessengers()`. Needs `thread`. @default the chat for which the code runs */
  readonly channel?: string;
  /** The platform's id of the chat, or of one topic of it. Needs `channel`. */
  readonly thread?: string | { readonly chatId: string; readonly topicId: string };
  /** A word for the model that says what the notice is, such as `reminder`. @default none */
  readonly kind?: string;
  /** Whether the model of the chat's conversation knows the text. @default true */
  readonly informModel?: boolean;
  /** Makes a call repeatable: see `say`. 1 to 190 characters. @default every call is a new notice */
  readonly idempotencyKey?: string;
}

const OPTIONS: OptionRules<NoticeOptions> = {
  channel: TEXT,
  thread: true,
  kind: true,
  informModel: FLAG,
  idempotencyKey: true,
};

/**
 * Returns the broadcast to one chat that is a notice.
 *
 * @param addressOf finds a target; without one, the chat for which the code runs
 * @throws {SwitchboardError} `channel-unknown`, `thread-unknown`, or another code of `say` about the target
 * @throws {InvalidInputError} `notice-invalid`
 */
export async function noticeOf(
  content: Content,
  options: NoticeOptions,
  addressOf: (to: ChatTarget | undefined) => Promise<Address>,
): Promise<NewBroadcast> {
  const problem = optionProblem(options, OPTIONS, { owner: "broadcasts.notify" });
  if (problem !== undefined)
    throw new InvalidInputError("notice-invalid", `The notice cannot be sent: ${problem}`);
  const { channel, idempotencyKey, informModel = true, kind, thread } = options;
  if ((channel === undefined) !== (thread === undefined))
    throw new InvalidInputError(
      "notice-invalid",
      "A notice names both its channel and its thread, or neither: then it goes to the chat for which the code runs.",
    );
  if (kind !== undefined && !/^[\w -]{1,40}$/.test(kind))
    throw new InvalidInputError(
      "notice-invalid",
      "The kind of a notice is a word of at most 40 letters, digits, spaces, - and _.",
    );
  const place = typeof thread === "string" ? { chatId: thread } : thread;
  const to = channel === undefined || place === undefined ? undefined : { messenger: channel, ...place };
  const address = await addressOf(to).catch((error: unknown) => {
    throw renamed(error);
  });
  return {
    id: idempotencyKey === undefined ? undefined : `notice:${idempotencyKey}`,
    work: {
      kind: "content",
      content,
      informModel,
      // It is about something that happens now.
      ignoresQuietHours: true,
      ...(kind !== undefined && { noteKind: kind }),
    },
    targets: [address],
  };
}

const NAMES: Readonly<Record<string, string>> = {
  "messenger-unknown": "channel-unknown",
  "chat-unknown": "thread-unknown",
};

/** Returns a refusal in the words of a notice. */
function renamed(error: unknown): unknown {
  const code = errorCode(error);
  const name = code === undefined ? undefined : NAMES[code];
  return name === undefined || !(error instanceof Error) ? error : new SwitchboardError(name, error.message);
}

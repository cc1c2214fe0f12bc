import { checked, questionsOf } from "../messengers/turns/question-messages.ts";
import type { SubmissionInput } from "../messengers/turns/question-messages.ts";
import { createHash } from "node:crypto";
import type { UIMessage } from "ai";
import { z } from "zod";
import { InvalidInputError } from "../core/base/errors.ts";
import { namesOf, optionProblem } from "../core/json/check-options.ts";
import type { Address } from "../core/chat/surface.ts";
import type { PromptMetadata } from "../core/turn/turn-info.ts";
import type { Prompt, PromptState } from "../inbox/prompt-store.ts";
import type { StreamCallback } from "../turn/chat-stream.ts";
import { questionIdOf } from "../turn/question-id.ts";
import type { AnswerTarget } from "../messengers/turns/answer-targets.ts";
import type { AcceptedPrompt, PromptRequest } from "../messengers/turns/prompts.ts";
import { replyIdOf } from "../messengers/turns/turn-replies.ts";
import { givenAddressSchema } from "../core/chat/stored-address.ts";

export interface SubmitMessagesOptions {
  /** 1 to 200 characters. @default a new id */
  readonly submissionId?: string;
  /**
   * The caller's own name of the work, 1 to 200 characters. A second call with the same key starts nothing. @default
   * none
   */
  readonly idempotencyKey?: string;
  /** Chats that show the answer, each once. @default none: the answer is only in the conversation's transcript */
  readonly answerTo?: AnswerTarget | readonly AnswerTarget[];
  /**
   * Whether the answer is also sent to the conversation's own chat: the one in which it was last written to. @default
   * false
   */
  readonly deliver?: boolean;
  /**
   * Plain facts for the bot's own code, returned by `getTurn()` and `inspectSubmission()`. The model never sees them.
   */
  readonly metadata?: PromptMetadata;
  /** The channel of the turn: see `configureChannels`. @default that of the first chat in `answerTo`, else `web` */
  readonly channel?: string;
}

/**
 * - `pending`: accepted, waits for its turn
 * - `running`: its turn is running
 * - `completed`: its turn has ended
 * - `aborted`: it was cancelled, or its answer was stopped
 * - `error`: its turn failed
 */
export type SubmissionStatus = PromptState;

export interface Submission {
  readonly submissionId: string;
  readonly idempotencyKey?: string;
  /** The id of its turn, as hooks and `cancelChat` know it. */
  readonly requestId: string;
  readonly status: SubmissionStatus;
  readonly metadata?: PromptMetadata;
  /** Its messages in the transcript. */
  readonly messageIds: readonly string[];
  /** The receipts of its answer, in the order of `answerTo`: see `deliveries.get`. */
  readonly deliveryIds: readonly string[];
  /** The code of the failure, or the reason that the bot's own code gave for its end. */
  readonly error?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
}

export interface SubmitMessagesResult extends Submission {
  /** Whether this call stored the submission. `false` if an earlier call with the same id or key did. */
  readonly accepted: boolean;
}

/** Which submissions are deleted. Those that wait or run never are. */
export interface SubmissionDeletion {
  /** Only those that ended so. @default all that have ended */
  readonly status?: SaveMessagesStatus | readonly SaveMessagesStatus[];
  /** Only those that ended before this time, in epoch milliseconds. @default now */
  readonly completedBefore?: number;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

export interface WaitOptions {
  /** Longest wait, in milliseconds. At most 600000. @default 60000 */
  readonly timeoutMs?: number;
}

export interface SubmissionFilter {
  readonly status?: SubmissionStatus | readonly SubmissionStatus[];
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

export type SaveMessagesStatus = Extract<SubmissionStatus, "completed" | "aborted" | "error">;

/** The end of a turn that its caller waited for. */
export interface SaveMessagesResult {
  readonly requestId: string;
  readonly status: SaveMessagesStatus;
}

/** The end of `continueLastTurn`. `skipped`: there is no answer to continue, and no turn began. */
export interface ContinueResult {
  /** Empty if it was skipped. */
  readonly requestId: string;
  readonly status: SaveMessagesStatus | "skipped";
}

/** Options of `chat`. */
export interface ChatOptions {
  /** The channel of the turn: see `configureChannels`. @default `web` */
  readonly channel?: string | undefined;
}

/** Options of `runTurn`. */
export type RunTurnOptions =
  /** Waits for the end of the turn, as `saveMessages`. */
  | (SubmitMessagesOptions & { readonly mode: "wait"; readonly messages: SubmissionInput })
  /** Resolves when the prompt is durable, as `submitMessages`. */
  | (SubmitMessagesOptions & { readonly mode: "submit"; readonly messages: SubmissionInput })
  /** Streams the turn, as `chat`. */
  | {
      readonly mode: "stream";
      readonly messages: string | UIMessage;
      readonly callback: StreamCallback;
      /** The channel of the turn: see `configureChannels`. @default `web` */
      readonly channel?: string;
    };

export type RunTurnResult<Mode extends RunTurnOptions["mode"]> = {
  readonly wait: SaveMessagesResult;
  readonly submit: SubmitMessagesResult;
  readonly stream: undefined;
}[Mode];

/** A row holds at most 2 MB, and the transcript stores the messages once more. */
const MOST_CHATS = 100;

const name = z.string().min(1).max(200);
const optionsSchema = z.object({
  submissionId: name.optional(),
  idempotencyKey: name.optional(),
  answerTo: z.union([givenAddressSchema, z.array(givenAddressSchema).max(MOST_CHATS)]).optional(),
  deliver: z.boolean().optional(),
  channel: name.optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});
/**
 * Checks a submission.
 *
 * @throws {InvalidInputError} `submission-invalid` if its shape is wrong, `submission-empty` if it asks nothing,
 * `submission-too-large` if it cannot be stored
 */
export function parseSubmission(
  input: SubmissionInput,
  options: Omit<SubmitMessagesOptions, "answerTo"> & { readonly answerTo?: readonly Address[] },
  newId: () => string,
): PromptRequest {
  const problem = optionProblem(options, namesOf(optionsSchema.shape), { owner: "the submission" });
  if (problem !== undefined) throw new InvalidInputError("submission-invalid", problem);
  const messages = questionsOf(input, newId);
  const {
    answerTo = [],
    channel,
    idempotencyKey,
    metadata,
    submissionId,
  } = checked(optionsSchema, options, "options");
  return {
    kind: "prompt",
    id: submissionId,
    idempotencyKey,
    messages,
    answerTo: distinct([answerTo].flat()),
    metadata,
    hash: hashOf(messages, metadata),
    channel,
  };
}

/** Ids of messages may be new for each call. */
function hashOf(messages: readonly UIMessage[], metadata: PromptMetadata | undefined): string {
  const content = [messages.map(({ parts, role }) => ({ parts, role })), metadata ?? {}];
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}

/** Returns the message that asks the model to continue its last answer. */
export function continuation(id: string): UIMessage {
  const text =
    "⟦Continue your last answer where it ended. The application asks for this, no person wrote it.⟧";
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** Returns a prompt as the bot's own code sees it. */
export function submissionOf(prompt: Prompt): Submission {
  const { answerTo, endedAt, error, id, idempotencyKey, messageCount, metadata, startedAt } = prompt;
  const last = messageCount - 1;
  return {
    submissionId: id,
    requestId: id,
    status: prompt.state,
    messageIds: Array.from({ length: messageCount }, (_, index) => questionIdOf(id, index, last)),
    deliveryIds: answerTo.map((_, index) => replyIdOf(id, index)),
    createdAt: prompt.createdAt,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(metadata !== undefined && { metadata }),
    ...(error !== undefined && { error }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { completedAt: endedAt }),
  };
}

export function submitResultOf({ isNew, prompt }: AcceptedPrompt): SubmitMessagesResult {
  return { ...submissionOf(prompt), accepted: isNew };
}

/** Removes repeated addresses, so that no chat shows an answer twice. */
function distinct(addresses: readonly Address[]): Address[] {
  const byPlace = new Map(
    addresses.map((address) => [JSON.stringify([address.messengerId, address.threadId]), address]),
  );
  return [...byPlace.values()];
}

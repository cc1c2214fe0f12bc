import type { UIMessage } from "ai";
import { errorCode, InvalidInputError, SwitchboardError } from "../core/base/errors.ts";
import { withinTime } from "../core/time/within-time.ts";
import { streamChat } from "../turn/chat-stream.ts";
import type { StreamCallback } from "../turn/chat-stream.ts";
import { addressesOf } from "../messengers/turns/answer-targets.ts";
import type { AnswerTarget } from "../messengers/turns/answer-targets.ts";
import type { AcceptedPrompt, PromptRequest } from "../messengers/turns/prompts.ts";
import { continuation, parseSubmission, submissionOf, submitResultOf } from "./submissions.ts";
import { questionsOf } from "../messengers/turns/question-messages.ts";
import type {
  ChatOptions,
  ContinueResult,
  RunTurnOptions,
  Submission,
  SubmissionFilter,
  SubmissionDeletion,
  WaitOptions,
  SaveMessagesResult,
  SubmitMessagesOptions,
  SubmitMessagesResult,
} from "./submissions.ts";
import type { SubmissionInput } from "../messengers/turns/question-messages.ts";
import { safeText } from "../messengers/declare/texts.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { SubmissionDoor } from "./submission-door.ts";

const WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 600_000;
const MOST_DELETED = 1000;
const MOST_LISTED = 1000;
const ENDED = ["completed", "aborted", "error"] as const;

/** Turns that the bot's own code and other systems begin and end: submissions and `chat()`. */
export class SubmissionsFeature implements Feature, SubmissionDoor {
  readonly name = "submissions";
  readonly calls: SubmissionDoor = this;
  readonly #host: FeatureHost<unknown>;

  constructor(host: FeatureHost<unknown>) {
    this.#host = host;
  }

  async submitMessages(
    input: SubmissionInput,
    options: SubmitMessagesOptions,
  ): Promise<SubmitMessagesResult> {
    return submitResultOf(await this.#host.submit(await this.#submission(input, options)));
  }

  async #submission(input: SubmissionInput, options: SubmitMessagesOptions): Promise<PromptRequest> {
    await this.#host.ready();
    if (options.channel !== undefined) this.#host.channels.known(options.channel);
    // The targets of one that is known already may be gone since.
    const isKnown = this.#host.thread.own.prompts.isKnown(options.submissionId, options.idempotencyKey);
    const answerTo = isKnown ? [] : await addressesOf(this.#targetsOf(options), this.#host.objects.link);
    return parseSubmission(input, { ...options, answerTo }, () => this.#host.deps.newId());
  }

  #targetsOf({ answerTo = [], deliver }: SubmitMessagesOptions): readonly AnswerTarget[] {
    const named: readonly AnswerTarget[] = [answerTo].flat();
    if (deliver !== true) return named;
    const conversation = this.#host.objects.address();
    if (conversation !== "") return [{ conversation }, ...named];
    throw new SwitchboardError(
      "target-missing",
      "The root has no chat of its own, so `deliver` has no meaning there. Use `answerTo`.",
    );
  }

  /** Resolves with the submission when it has ended, or after the longest wait. */
  async wait(submissionId: string, { timeoutMs = WAIT_MS }: WaitOptions): Promise<Submission | undefined> {
    await this.#host.ready();
    const { prompts } = this.#host.thread.own;
    if (prompts.get(submissionId) === undefined) return undefined;
    const limitMs = Math.max(0, Math.min(timeoutMs, LONGEST_WAIT_MS));
    try {
      await withinTime(this.#host.deps.clock, limitMs, prompts.untilEnded(submissionId), "a submission");
    } catch (error) {
      if (errorCode(error) !== "took-too-long") throw error;
    }
    const prompt = prompts.get(submissionId);
    return prompt && submissionOf(prompt);
  }

  /** Deletes ended submissions, the oldest first. Returns their number. */
  async remove({ completedBefore, limit = 100, status = ENDED }: SubmissionDeletion): Promise<number> {
    await this.#host.ready();
    const endedBefore = Math.min(completedBefore ?? Infinity, this.#host.deps.clock.now() + 1);
    const most = Math.max(0, Math.min(limit, MOST_DELETED));
    return this.#host.thread.own.prompts.remove({ states: [status].flat(), endedBefore, limit: most });
  }

  /** Asks the model to continue its last answer. */
  async continueLast(options: SubmitMessagesOptions): Promise<ContinueResult> {
    await this.#host.ready();
    const history = await this.#history();
    if (history.at(-1)?.role !== "assistant") return { requestId: "", status: "skipped" };
    const id = this.#host.deps.newId();
    const request = await this.#submission("Continue", options);
    return this.#ended(
      await this.#host.submit({ ...request, messages: [continuation(id)], continues: true }),
    );
  }

  async runTurn(options: RunTurnOptions): Promise<SaveMessagesResult | SubmitMessagesResult | undefined> {
    switch (options.mode) {
      case "wait": {
        const { messages, mode: _, ...rest } = options;
        return this.saveMessages(messages, rest);
      }
      case "submit": {
        const { messages, mode: _, ...rest } = options;
        return this.submitMessages(messages, rest);
      }
      case "stream":
        await this.chat(options.messages, options.callback, options);
        return undefined;
      default:
        options satisfies never;
        throw new InvalidInputError(
          "submission-invalid",
          'The mode of runTurn() is "wait", "submit" or "stream".',
        );
    }
  }

  async saveMessages(input: SubmissionInput, options: SubmitMessagesOptions): Promise<SaveMessagesResult> {
    return this.#ended(await this.#host.submit(await this.#submission(input, options)));
  }

  async #ended({ prompt: { id } }: AcceptedPrompt): Promise<SaveMessagesResult> {
    return { requestId: id, status: await this.#host.thread.own.prompts.untilEnded(id) };
  }

  /** Submits a prompt whose answer is streamed to a callback. Resolves when its turn has ended. */
  async chat(
    message: string | UIMessage,
    callback: StreamCallback,
    { channel }: ChatOptions = {},
  ): Promise<void> {
    await this.#host.ready();
    const { channels, deps, engine, thread } = this.#host;
    const { prompts } = thread.own;
    if (channel !== undefined) channels.known(channel);
    const requestId = deps.newId();
    const begun = prompts.untilBegun(requestId).then(() => thread.own.sessionOf(requestId));
    try {
      const messages = questionsOf(message, () => deps.newId());
      await this.#host.submit({ id: requestId, kind: "prompt", messages, answerTo: [], channel });
    } catch (error) {
      prompts.settle(requestId);
      throw error;
    }
    await streamChat({
      engine,
      requestId,
      begun,
      errorText: safeText(undefined, "errorResponseText", undefined, undefined),
      overloadedText: safeText(undefined, "overloadedResponseText", undefined, undefined),
      callback,
    });
  }

  /** Returns a submission as it is now. Undefined if it does not exist. */
  inspect(submissionId: string): Submission | undefined {
    const prompt = this.#host.thread.own.prompts.get(submissionId);
    return prompt && submissionOf(prompt);
  }

  /** Returns the submissions of this conversation, newest first. */
  list({ limit = 100, status }: SubmissionFilter): Submission[] {
    const states = status === undefined ? undefined : [status].flat();
    const filter = { limit: Math.min(limit, MOST_LISTED), ...(states !== undefined && { states }) };
    return this.#host.thread.own.prompts.list(filter).map(submissionOf);
  }

  takeSubmission(input: SubmissionInput, options: SubmitMessagesOptions): Promise<SubmitMessagesResult> {
    return this.submitMessages(input, options);
  }

  inspectSubmissionOf(id: string): Promise<Submission | undefined> {
    return this.wait(id, { timeoutMs: 0 });
  }

  cancelSubmissionOf(id: string): Promise<boolean> {
    return this.cancel(id);
  }

  /** Returns the messages of the present session. */
  #history(): Promise<readonly { readonly role: string }[]> {
    const { engine, thread } = this.#host;
    return engine.messagesOf(thread.memory.session());
  }

  /** Ends a prompt that waits or runs. Returns `false` if it has ended already, or does not exist. */
  async cancel(promptId: string, reason?: string): Promise<boolean> {
    await this.#host.ready();
    const isCancelled = this.#host.thread.cancel(promptId, reason);
    if (!isCancelled) return false;
    await this.#host.stored();
    return true;
  }
}

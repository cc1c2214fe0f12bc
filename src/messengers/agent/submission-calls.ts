import type { UIMessage } from "ai";
import type { Clock } from "../../core/deps.ts";
import { errorCode, InvalidInputError, SwitchboardError } from "../../core/errors.ts";
import { withinTime } from "../../core/within-time.ts";
import type { StreamCallback } from "../../turn/chat-stream.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import type { RootLink } from "../root/root-link.ts";
import { addressesOf } from "../turns/answer-targets.ts";
import type { AnswerTarget } from "../turns/answer-targets.ts";
import type { AcceptedPrompt, PromptRequest } from "../turns/prompts.ts";
import {
  continuation,
  parseSubmission,
  questionsOf,
  submissionOf,
  submitResultOf,
} from "../turns/submissions.ts";
import type {
  ChatOptions,
  ContinueResult,
  RunTurnOptions,
  Submission,
  SubmissionDeletion,
  WaitOptions,
  SaveMessagesResult,
  SubmissionInput,
  SubmitMessagesOptions,
  SubmitMessagesResult,
} from "../turns/submissions.ts";
import type { ChannelPolicies } from "./channel-policies.ts";
import type { OwnTurns } from "./own-turns.ts";
import { runChat } from "./run-chat.ts";

export interface SubmissionCallsOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly ready: () => Promise<void>;
  readonly own: () => OwnTurns;
  readonly engine: () => TurnEngine;
  readonly channels: Pick<ChannelPolicies, "known">;
  readonly root: () => RootLink;
  /** The name of the conversation. Undefined at the root. */
  readonly conversation: () => string | undefined;
  /** Returns the messages of the present session. */
  readonly history: () => Promise<readonly { readonly role: string }[]>;
  /** Resolves when what was stored is sure to be worked on, also after a crash. */
  readonly stored: () => Promise<void>;
}

const WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 600_000;
const MOST_DELETED = 1000;
const ENDED = ["completed", "aborted", "error"] as const;

/** The calls with which bot code begins and ends turns of its own: submissions and `chat()`. */
export class SubmissionCalls {
  readonly #options: SubmissionCallsOptions;

  constructor(options: SubmissionCallsOptions) {
    this.#options = options;
  }

  /** Stores a prompt, and makes sure that its turn begins when it is due. Resolves when the prompt is durable. */
  async submit(request: PromptRequest): Promise<AcceptedPrompt> {
    await this.#options.ready();
    const accepted = this.#options.own().submit(request);
    await this.#options.stored();
    return accepted;
  }

  async submitMessages(
    input: SubmissionInput,
    options: SubmitMessagesOptions,
  ): Promise<SubmitMessagesResult> {
    return submitResultOf(await this.submit(await this.#submission(input, options)));
  }

  async #submission(input: SubmissionInput, options: SubmitMessagesOptions): Promise<PromptRequest> {
    await this.#options.ready();
    if (options.channel !== undefined) this.#options.channels.known(options.channel);
    // The targets of one that is known already may be gone since.
    const isKnown = this.#options.own().prompts.isKnown(options.submissionId, options.idempotencyKey);
    const answerTo = isKnown ? [] : await addressesOf(this.#targetsOf(options), this.#options.root());
    return parseSubmission(input, { ...options, answerTo }, this.#options.newId);
  }

  #targetsOf({ answerTo = [], deliver }: SubmitMessagesOptions): readonly AnswerTarget[] {
    const named: readonly AnswerTarget[] = [answerTo].flat();
    if (deliver !== true) return named;
    const conversation = this.#options.conversation();
    if (conversation !== undefined) return [{ conversation }, ...named];
    throw new SwitchboardError(
      "target-missing",
      "The root has no chat of its own, so `deliver` has no meaning there. Use `answerTo`.",
    );
  }

  /** Resolves with the submission when it has ended, or after the longest wait. */
  async wait(submissionId: string, { timeoutMs = WAIT_MS }: WaitOptions): Promise<Submission | undefined> {
    await this.#options.ready();
    const { prompts } = this.#options.own();
    if (prompts.get(submissionId) === undefined) return undefined;
    const limitMs = Math.max(0, Math.min(timeoutMs, LONGEST_WAIT_MS));
    try {
      await withinTime(this.#options.clock, limitMs, prompts.untilEnded(submissionId), "a submission");
    } catch (error) {
      if (errorCode(error) !== "took-too-long") throw error;
    }
    const prompt = prompts.get(submissionId);
    return prompt && submissionOf(prompt);
  }

  /** Deletes ended submissions, the oldest first. Returns their number. */
  async remove({ completedBefore, limit = 100, status = ENDED }: SubmissionDeletion): Promise<number> {
    await this.#options.ready();
    const endedBefore = Math.min(completedBefore ?? Infinity, this.#options.clock.now() + 1);
    const most = Math.max(0, Math.min(limit, MOST_DELETED));
    return this.#options.own().prompts.remove({ states: [status].flat(), endedBefore, limit: most });
  }

  /** Asks the model to continue its last answer. */
  async continueLast(options: SubmitMessagesOptions): Promise<ContinueResult> {
    await this.#options.ready();
    const history = await this.#options.history();
    if (history.at(-1)?.role !== "assistant") return { requestId: "", status: "skipped" };
    const id = this.#options.newId();
    const request = await this.#submission("Continue", options);
    return this.#ended(await this.submit({ ...request, messages: [continuation(id)] }));
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
    return this.#ended(await this.submit(await this.#submission(input, options)));
  }

  async #ended({ prompt: { id } }: AcceptedPrompt): Promise<SaveMessagesResult> {
    return { requestId: id, status: await this.#options.own().prompts.untilEnded(id) };
  }

  async chat(
    message: string | UIMessage,
    callback: StreamCallback,
    { channel }: ChatOptions = {},
  ): Promise<void> {
    await this.#options.ready();
    const { channels, newId } = this.#options;
    if (channel !== undefined) channels.known(channel);
    const submit = (id: string): Promise<unknown> =>
      this.submit({ id, kind: "prompt", messages: questionsOf(message, newId), answerTo: [], channel });
    await runChat(
      { engine: this.#options.engine(), own: this.#options.own(), requestId: newId(), submit },
      callback,
    );
  }

  /** Ends a prompt that waits or runs. Returns `false` if it has ended already, or does not exist. */
  async cancel(promptId: string): Promise<boolean> {
    await this.#options.ready();
    const isCancelled = this.#options.own().cancel(promptId);
    if (!isCancelled) return false;
    await this.#options.stored();
    return true;
  }
}

import type { UIMessage } from "ai";
import type { StreamCallback } from "../../turn/chat-stream.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import type { RootLink } from "../root/root-link.ts";
import { addressesOf } from "../turns/answer-targets.ts";
import type { AcceptedPrompt, PromptRequest } from "../turns/prompts.ts";
import { parseSubmission, questionsOf, submitResultOf } from "../turns/submissions.ts";
import type {
  SaveMessagesResult,
  SubmissionInput,
  SubmitMessagesOptions,
  SubmitMessagesResult,
} from "../turns/submissions.ts";
import type { OwnTurns } from "./own-turns.ts";
import { runChat } from "./run-chat.ts";

export interface SubmissionCallsOptions {
  readonly newId: () => string;
  readonly ready: () => Promise<void>;
  readonly own: () => OwnTurns;
  readonly engine: () => TurnEngine;
  readonly root: () => RootLink;
  /** Resolves when what was stored is sure to be worked on, also after a crash. */
  readonly stored: () => Promise<void>;
}

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
    // The targets of one that is known already may be gone since.
    const isKnown = this.#options.own().prompts.isKnown(options.submissionId, options.idempotencyKey);
    const answerTo = isKnown ? [] : await addressesOf(options.answerTo, this.#options.root());
    return parseSubmission(input, { ...options, answerTo }, this.#options.newId);
  }

  async saveMessages(input: SubmissionInput, options: SubmitMessagesOptions): Promise<SaveMessagesResult> {
    const { prompt } = await this.submit(await this.#submission(input, options));
    return { requestId: prompt.id, status: await this.#options.own().prompts.untilEnded(prompt.id) };
  }

  async chat(message: string | UIMessage, callback: StreamCallback): Promise<void> {
    await this.#options.ready();
    const { newId } = this.#options;
    const submit = (id: string): Promise<unknown> =>
      this.submit({ id, kind: "prompt", messages: questionsOf(message, newId), answerTo: [] });
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

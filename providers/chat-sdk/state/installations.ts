import type { Adapter } from "chat";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { InstallationRules } from "../adapters/installation-rules.ts";
import { credentialsRefused, scopeMissing } from "../adapters/refusals.ts";
import { ChatSdkCallError } from "../errors/call-error.ts";
import type { DurableState } from "./durable-state.ts";
import { withState } from "./state-of-call.ts";

/** The app is not installed in the chat's workspace any more. It may come back. */
const NOT_INSTALLED: CallFailure = { kind: "gone", code: "not-installed" };

const keyOf = (chatId: string): string => `switchboard:installation:${chatId}`;

/**
 * Runs each call of an adapter with the token of its chat's installation. A chat belongs to the installation of the
 * newest event from there.
 *
 * A token that was refused is read again: the app may have been installed anew. If it is still the same, the chat is
 * gone until somebody writes there. A token that lacks the right to a call is good for others: that call alone is refused.
 */
export class Installations {
  readonly #adapter: Adapter;
  readonly #state: DurableState;
  /** Undefined if the adapter has one installation only. */
  readonly #rules: InstallationRules | undefined;

  constructor(adapter: Adapter, state: DurableState, rules: InstallationRules | undefined) {
    this.#adapter = adapter;
    this.#state = state;
    this.#rules = rules?.isUsed(adapter) === true ? rules : undefined;
  }

  /** Returns the installation of the webhook that is being handled. */
  current(): string | undefined {
    return this.#rules?.current(this.#adapter);
  }

  /** Stores to which installation a chat belongs. */
  async note(chatId: string, installation: string): Promise<void> {
    await this.#state.set(keyOf(chatId), installation);
  }

  /** @throws {ChatSdkCallError} if the token is not known; the call was certainly not made */
  async run<Result>(chatId: string, threadId: string, call: () => Promise<Result>): Promise<Result> {
    const rules = this.#rules;
    if (rules === undefined) return withState(this.#state, call);
    const found = await this.#find(rules, chatId, threadId);
    if (found === undefined) throw new ChatSdkCallError("initialize", NOT_INSTALLED);
    return withState(this.#state, () => found.run(call));
  }

  /** Returns the installation of a chat. Empty if there is only one, or if the chat has none. */
  async of(chatId: string, threadId: string): Promise<string> {
    const rules = this.#rules;
    return rules === undefined ? "" : ((await this.#find(rules, chatId, threadId))?.id ?? "");
  }

  /** Returns what a refusal of the token means. */
  async refused(chatId: string, threadId: string, failure: CallFailure): Promise<CallFailure> {
    const rules = this.#rules;
    const isScope = failure.code === scopeMissing.code;
    if (rules === undefined || (failure.code !== credentialsRefused.code && !isScope)) return failure;
    const before = await this.#find(rules, chatId, threadId);
    this.#state.forget();
    const after = await this.#find(rules, chatId, threadId);
    if (after === undefined) return NOT_INSTALLED;
    if (after.version !== before?.version) return { kind: "transient", code: "token-replaced" };
    return isScope ? { kind: "rejected", code: scopeMissing.code } : NOT_INSTALLED;
  }

  /** Whether webhooks tell of installations. */
  get learns(): boolean {
    return this.#rules?.changes !== undefined;
  }

  /** Stores the changes of installations that a verified webhook tells. */
  async learn(headers: Headers, body: () => unknown): Promise<void> {
    const read = this.#rules?.changes;
    if (read === undefined) return;
    const { before = Infinity, removed = [], stored = [] } = read(this.#adapter, headers, body());
    for (const { key, value } of stored) await this.#state.set(key, value);
    for (const key of removed) await this.#state.deleteBefore(key, before);
  }

  async #find(rules: InstallationRules, chatId: string, threadId: string) {
    try {
      const id = (await this.#state.get<string>(keyOf(chatId))) ?? undefined;
      return await withState(this.#state, () => rules.find(this.#adapter, id, threadId));
    } catch {
      // The root cannot be asked now, or its secrets cannot be opened.
      throw new ChatSdkCallError("initialize", { kind: "transient", code: "no-installation" });
    }
  }
}

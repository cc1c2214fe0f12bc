import type { ChatTarget, SayOptions } from "../../core/chat-target.ts";
import type { Content } from "../../core/content.ts";
import type { Mark } from "../../core/mark.ts";
import type { Address } from "../../core/surface.ts";
import { getMessengerContext, getTurn } from "../../core/turn-context.ts";
import type { Cards } from "../replies/cards.ts";
import { markMessage } from "../replies/mark-message.ts";
import { addressFor, say } from "../replies/say.ts";
import type { SayHost } from "../replies/say.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

/** The object, as bot code sends from it. */
export interface OwnSendsHost {
  readonly thread: ThreadRuntime;
  ready(): Promise<void>;
  /** Resolves when the wake-up for what was stored is durable. */
  durable(): Promise<void>;
}

/** The calls with which bot code sends content and changes what it has sent. Each resolves when that is durable. */
export class OwnSends {
  readonly #host: OwnSendsHost;

  constructor(host: OwnSendsHost) {
    this.#host = host;
  }

  /** Changes or removes cards of bot code. Resolves when that is durable. */
  async changeCards<T>(body: (cards: Cards) => T | Promise<T>): Promise<T> {
    await this.#host.ready();
    const result = await body(this.#host.thread.cards);
    await this.#host.durable();
    return result;
  }

  async say(content: Content, to: ChatTarget | undefined, options: SayOptions): Promise<string> {
    return this.#sending((host) => say(host, content, to, options));
  }

  /** Returns the address of a target; without one, that of the chat for which the code runs. */
  async addressOf(to: ChatTarget | undefined): Promise<Address> {
    const served = { event: getMessengerContext(), turn: getTurn() };
    await this.#host.ready();
    return addressFor(this.#host.thread.sayHost(served), to);
  }

  async mark(mark: Mark, to: ChatTarget | undefined): Promise<string> {
    return this.#sending((host) => markMessage(host, mark, to));
  }

  async #sending(body: (host: SayHost) => Promise<string>): Promise<string> {
    const served = { event: getMessengerContext(), turn: getTurn() };
    await this.#host.ready();
    const id = await body(this.#host.thread.sayHost(served));
    await this.#host.durable();
    return id;
  }
}

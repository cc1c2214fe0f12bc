import type { ChatTarget, SayOptions } from "../../core/chat/chat-target.ts";
import type { Content } from "../../core/message/content.ts";
import type { Mark } from "../../core/chat/mark.ts";
import type { Address } from "../../core/chat/surface.ts";
import { getMessengerContext, getTurn } from "../../core/turn/turn-context.ts";
import type { Cards } from "../replies/cards.ts";
import { addressFor, say } from "../replies/say.ts";
import type { SayHost } from "../replies/say.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";
import { InvalidInputError } from "../../core/base/errors.ts";

const MAX_ID_LENGTH = 200;
const MAX_EMOJI_LENGTH = 64;

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

/**
 * Reacts to a message, pins one, or takes that back, for bot code. Returns the id of its receipt when that is stored.
 *
 * @throws {SwitchboardError} with the code of a refused target, or `target-missing`
 * @throws {InvalidInputError} `mark-invalid`, `reactions-unsupported` or `pins-unsupported`
 */
async function markMessage(host: SayHost, mark: Mark, to: ChatTarget | undefined): Promise<string> {
  checkMark(mark);
  const id = `mark:${host.newId()}`;
  host.delivery.mark({ id, address: await addressFor(host, to), mark });
  return id;
}

function checkMark(mark: Mark): void {
  const { messageId } = mark;
  const isNewest = mark.kind === "unpin" && messageId === undefined;
  if (!isNewest && !isText(messageId, MAX_ID_LENGTH))
    throw new InvalidInputError("mark-invalid", "The id of a message is a text that is not empty.");
  if (mark.kind === "reaction" && mark.emoji !== undefined && !isText(mark.emoji, MAX_EMOJI_LENGTH))
    throw new InvalidInputError(
      "mark-invalid",
      "A reaction is one emoji, or undefined to take the bot's reaction back.",
    );
}

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= most;
}

import type { Content, ContentOptions } from "../../core/content.ts";
import type { IfDeleted } from "../../core/delivery.ts";
import type { Deps } from "../../core/deps.ts";
import { SwitchboardError } from "../../core/errors.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import { getMessengerContext } from "../../core/turn-context.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";
import { addressOf } from "./address-of.ts";
import type { Cards } from "./cards.ts";

/** Options of `say`. */
export interface SayOptions extends ContentOptions {
  /** Sends the content once for each key, also after a crash. 1 to 200 characters. @default every call sends */
  readonly idempotencyKey?: string;
}

/** Options of `revise`. */
export interface ReviseOptions {
  /** Whether a card that a person has deleted is posted again. @default "leave" */
  readonly ifDeleted?: IfDeleted;
}

export interface SpeechOptions {
  readonly deps: Pick<Deps, "newId">;
  readonly cards: Cards;
  /** @throws {Error} for a messenger that is not declared */
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
  /** Whether there is a delivery of this id. */
  readonly isKnown: (id: string) => boolean;
  /** The chat from which this conversation last heard something. */
  readonly lastPlace: () => Pick<MessengerEvent, "messengerId" | "thread"> | undefined;
}

const MAX_KEY_LENGTH = 200;
/** Shown in place of a card that is removed, where the platform does not delete its message any more. */
const REMOVED = "(removed)";

/** What the bot's code says outside of the model's answers. */
export class Speech {
  readonly #options: SpeechOptions;

  constructor(options: SpeechOptions) {
    this.#options = options;
  }

  /**
   * Sends content. Returns the id of its delivery.
   *
   * @throws {SwitchboardError} `chat-unknown` if there is no chat to send it to, `idempotency-key-invalid`
   * @throws {InvalidInputError} if the content is not valid
   * @throws {SwitchboardError} if a file could not be read and may be later
   */
  async say(
    content: Content,
    to: Address | undefined,
    { idempotencyKey, ...options }: SayOptions,
  ): Promise<string> {
    const { cards, deps, definition, isKnown } = this.#options;
    if (idempotencyKey !== undefined && !isKey(idempotencyKey)) {
      throw new SwitchboardError(
        "idempotency-key-invalid",
        `The idempotencyKey of say() must be a string of 1 to ${MAX_KEY_LENGTH} characters.`,
      );
    }
    const address = to ?? this.#here();
    const id = `say:${idempotencyKey ?? deps.newId()}`;
    const policy = replyPolicy(definition(address.messengerId).delivery);
    // What was sent under this key is not read again.
    if (idempotencyKey !== undefined && isKnown(id)) return id;
    cards.post({ id, address, policy, options }, await cards.prepare(address.messengerId, content));
    return id;
  }

  revise(id: string, content: Content, { ifDeleted }: ReviseOptions): boolean {
    return this.#options.cards.revise(id, content, ifDeleted);
  }

  remove(id: string): boolean {
    return this.#options.cards.remove(id, REMOVED);
  }

  #here(): Address {
    const place = getMessengerContext() ?? this.#options.lastPlace();
    if (place !== undefined) return addressOf(place);
    throw new SwitchboardError(
      "chat-unknown",
      "This conversation knows no chat to send the content to: nobody has written to it lately. Name the chat.",
    );
  }
}

function isKey(key: unknown): boolean {
  return typeof key === "string" && key.length >= 1 && key.length <= MAX_KEY_LENGTH;
}

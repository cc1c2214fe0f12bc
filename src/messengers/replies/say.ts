import { checkContent } from "../../core/message/check-content.ts";
import { FLAG, optionProblem } from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import type { Content } from "../../core/message/content.ts";
import type { ChatTarget, Resolution, SayOptions } from "../../core/chat/chat-target.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import { InvalidInputError, SwitchboardError } from "../../core/base/errors.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";
import type { Cards } from "./cards.ts";
import { addressOf } from "./address-of.ts";

/** The turn that bot code serves while it calls, or the event that no turn answers. */
export interface Served {
  readonly event: MessengerEvent | undefined;
  readonly turn: Pick<TurnInfo, "answerTo"> | undefined;
}

export interface SayHost {
  readonly delivery: Pick<Delivery, "receipt" | "revive" | "mark">;
  readonly cards: Pick<Cards, "post" | "prepare">;
  readonly messengers: Pick<DeclaredMessengers, "get">;
  /** Asks the root. */
  readonly resolveTarget: (to: ChatTarget) => Promise<Resolution>;
  readonly newId: () => string;
  /** Makes the loop run soon, even if the object dies before. */
  readonly wakeSoon: () => void;
  /** The turn or event that the calling code serves. */
  readonly served: Served;
  /** The conversation of this object. Undefined at the root, which has no chat of its own. */
  readonly conversation: string | undefined;
}

const MAX_KEY_LENGTH = 200;
const OPTIONS: OptionRules<SayOptions> = { idempotencyKey: true, silent: FLAG, protect: FLAG, replyTo: true };

/**
 * Sends content of bot code from this object's own outbox. Returns the id of its receipt when the message is stored.
 *
 * @throws {SwitchboardError} with the code of a refused target, or `target-missing`
 * @throws {SwitchboardError} if a file could not be read and may be later
 * @throws {InvalidInputError} `say-option-invalid`, `idempotency-key-invalid`, or a code of `checkContent`
 */
export async function say(
  host: SayHost,
  content: Content,
  to: ChatTarget | undefined,
  given: SayOptions,
): Promise<string> {
  const problem = optionProblem(given, OPTIONS, { owner: "say" });
  if (problem !== undefined)
    throw new InvalidInputError("say-option-invalid", `The message cannot be sent: ${problem}`);
  const { idempotencyKey, ...options } = given;
  const { cards, delivery, messengers, newId } = host;
  const checked = checkContent(content);
  checkKey(idempotencyKey);
  const id = `say:${idempotencyKey ?? newId()}`;
  const known = delivery.receipt(id)?.state;
  // The process may have died after it stored the message and before it set a wake-up.
  if (known === "final") host.wakeSoon();
  // The message was accepted before. Its target may be gone since.
  if (known !== undefined) return id;
  const address = await addressFor(host, to);
  // The root heard a person there after this object was refused.
  if (to !== undefined) delivery.revive(address.chatId);
  const policy = replyPolicy(messengers.get(address.messengerId).delivery);
  cards.post({ id, address, policy, options }, await cards.prepare(address.messengerId, checked));
  return id;
}

/**
 * The address of a target. Without one: the chat of what the code serves, else the conversation's own.
 *
 * @throws {SwitchboardError} with the code of a refused target, or `target-missing`
 */
export async function addressFor(
  { conversation, resolveTarget, served: { event, turn } }: SayHost,
  to: ChatTarget | undefined,
): Promise<Address> {
  if (to === undefined && event !== undefined) return addressOf(event);
  const [address, ...others] = turn?.answerTo ?? [];
  if (to === undefined && others.length > 0)
    throw new SwitchboardError(
      "target-missing",
      "The answer of this turn goes to several chats. Name the one that is meant.",
    );
  if (to === undefined && address !== undefined) return address;
  const target = to ?? (conversation === undefined ? undefined : { conversation });
  if (target === undefined) {
    throw new SwitchboardError(
      "target-missing",
      "The root needs a target outside of a turn: a chat, a person or a conversation.",
    );
  }
  const resolution = await resolveTarget(target);
  if (resolution.kind === "found") return resolution.address;
  throw new SwitchboardError(resolution.code, resolution.message);
}

function checkKey(key: string | undefined): void {
  if (key === undefined) return;
  if (typeof key === "string" && key !== "" && key.length <= MAX_KEY_LENGTH) return;
  throw new InvalidInputError(
    "idempotency-key-invalid",
    `idempotencyKey must be a text of 1 to ${MAX_KEY_LENGTH} characters.`,
  );
}

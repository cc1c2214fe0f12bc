import type { Delivery, DeliveryPolicy, DeliveryReceipt, ReplyStart } from "../../core/delivery.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import { addressOf } from "../replies/address-of.ts";
import type { OutgoingText } from "../../outgoing/index.ts";
import { joinParagraphs } from "../../outgoing/index.ts";
import type { ReplyTextSink } from "../../turn/reply-text.ts";
import type { Turn } from "../../turn/turn-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { filteredFragment, mayStaySilent, replyFilter, silenceInstruction } from "../replies/reply-filter.ts";
import { replyStartOf } from "./reply-start.ts";
import { sendNotice } from "../replies/send-notice.ts";
import { replyPolicy, safeText } from "../declare/texts.ts";
import { visibleText } from "./visible-text.ts";
import type { EndedTurn } from "./visible-text.ts";

export interface TurnRepliesOptions {
  readonly log: Log;
  readonly delivery: Delivery;
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition;
  /** Returns the events that a turn answers. */
  readonly eventsOf: (turn: Turn) => readonly MessengerEvent[];
}

/**
 * Passes the text of turns to their replies, through the messenger's filter. If a turn failed, it sends the messenger's
 * own text.
 */
export class TurnReplies {
  readonly #options: TurnRepliesOptions;
  /** The filter of each running turn. */
  readonly #filters = new Map<string, OutgoingText>();

  constructor(options: TurnRepliesOptions) {
    this.#options = options;
  }

  /** Opens the reply of a turn, or continues it. */
  open(turn: Turn): void {
    const policy = this.#policy(turn);
    const typing = policy.typing ?? !this.#mayStaySilent(turn);
    const start: ReplyStart = replyStartOf(turn, { ...policy, typing });
    this.#options.delivery.open(start);
  }

  /** Returns the sink for the streamed text of a turn. */
  sinkOf(turn: Turn): ReplyTextSink {
    const filter = this.#newFilter(turn);
    this.#filters.set(turn.id, filter);
    return filter;
  }

  /** Shows the whole text of an ended turn, or nothing if the model chose silence. Returns the length of the text. */
  finish(turn: Turn, outcome: EndedTurn): number {
    const text = this.#finalText(turn, outcome);
    this.#options.delivery.finish(turn.id, text);
    return text.length;
  }

  /** Keeps the visible text of a stopped turn, and adds the mark. */
  finishStopped(turn: Turn, said: string): void {
    const mark = safeText(this.#policy(turn), "stoppedResponseText", turn.context, this.#options.log);
    this.open(turn);
    const text = this.#fragment(turn, said);
    this.#options.delivery.finish(
      turn.id,
      joinParagraphs(this.#options.delivery.seenText(turn.id) ?? text, mark),
    );
  }

  /** Tells the person that the messages up to this one are not answered. */
  tellStopped(id: string, event: MessengerEvent): void {
    const { delivery: policy } = this.#options.definition(event.messengerId);
    const text = safeText(policy, "stoppedResponseText", event, this.#options.log);
    if (text.trim() === "") return;
    this.#options.delivery.send({ id, address: addressOf(event), policy: replyPolicy(policy) }, text);
  }

  /**
   * Asks the person for patience, once in a turn. Sends nothing if part of the answer is visible, because the answer
   * would continue above the notice, or if the model may choose silence.
   */
  tellWaiting(turn: Turn): void {
    const { delivery, log } = this.#options;
    const definition = this.#options.definition(turn.address.messengerId);
    if (silenceInstruction(definition, turn.context) !== undefined) return;
    if (hasBegun(delivery.receipt(turn.id))) return;
    const text = safeText(definition.delivery, "waitingResponseText", turn.context, log);
    if (text.trim() === "") return;
    sendNotice(delivery, waitingId(turn.id), turn.context, definition, text);
  }

  /** Drops a request for patience that has not been sent yet. It would arrive after the answer. */
  endWaiting(turnId: string): void {
    const { delivery } = this.#options;
    if (!hasBegun(delivery.receipt(waitingId(turnId)))) delivery.withdraw(waitingId(turnId));
  }

  /** Keeps the text of a turn that made way for a later message, without a mark. */
  finishYielded(turn: Turn, said: string): void {
    this.open(turn);
    this.#options.delivery.finish(turn.id, this.#fragment(turn, said));
  }

  /** Withdraws the reply of a turn. Its visible messages stay for the turn that replaces it. */
  withdraw(turn: Turn): void {
    this.#filters.delete(turn.id);
    this.#options.delivery.withdraw(turn.id);
  }

  #finalText(turn: Turn, outcome: EndedTurn): string {
    const policy = this.#policy(turn);
    const visible = (ended: EndedTurn): string =>
      visibleText(ended, policy, turn.context, this.#options.log, this.#mayStaySilent(turn));
    if (outcome.kind !== "done") return visible({ ...outcome, text: this.#fragment(turn, outcome.text) });
    const filter = this.#filters.get(turn.id) ?? this.#newFilter(turn);
    this.#filters.delete(turn.id);
    const result = filter.finish(outcome.text);
    return result.kind === "silent" ? "" : visible({ kind: "done", text: result.text });
  }

  #mayStaySilent(turn: Turn): boolean {
    return mayStaySilent(this.#options.definition(turn.address.messengerId), this.#options.eventsOf(turn));
  }

  #newFilter(turn: Turn): OutgoingText {
    const { delivery, log } = this.#options;
    const sink = {
      append: (delta: string) => delivery.append(turn.id, delta),
      replace: (text: string) => delivery.replace(turn.id, text),
      interrupt: () => delivery.interrupt(turn.id),
    };
    return replyFilter(this.#options.definition(turn.address.messengerId), turn.context, sink, log);
  }

  #fragment(turn: Turn, text: string): string {
    this.#filters.delete(turn.id);
    const definition = this.#options.definition(turn.address.messengerId);
    const said = filteredFragment(definition, turn.context, text, this.#options.log);
    // After a crash the turn may know less text than is visible in messages that cannot be changed.
    const posted = this.#options.delivery.postedText(turn.id);
    return posted.startsWith(said) ? posted : said;
  }

  #policy(turn: Turn): DeliveryPolicy {
    return this.#options.definition(turn.address.messengerId).delivery ?? {};
  }
}

function waitingId(turnId: string): string {
  return `waiting:${turnId}`;
}

/** Tells whether any part of a reply is visible, or may be. */
function hasBegun(receipt: DeliveryReceipt | undefined): boolean {
  return receipt?.messages.some(({ state }) => state !== "planned" && state !== "removed") === true;
}

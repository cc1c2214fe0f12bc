import type { DeliveryPolicy } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { OutgoingText } from "../../outgoing/index.ts";
import { joinParagraphs } from "../../outgoing/index.ts";
import type { ReplyTextSink } from "../../turn/reply-text.ts";
import type { MessagesTurn, Turn } from "../../turn/turn-store.ts";
import { replyPolicy, safeText } from "../declare/texts.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import { addressOf } from "../replies/address-of.ts";
import { filteredFragment, mayStaySilent, replyFilter, silenceInstruction } from "../replies/reply-filter.ts";
import { sendNotice } from "../replies/send-notice.ts";
import { hasBegun, withdrawUnsent } from "../replies/withdraw-unsent.ts";
import { replyStartOf } from "./reply-start.ts";
import type { ReplyTarget } from "./reply-start.ts";
import { visibleText } from "./visible-text.ts";
import type { EndedTurn, Silence } from "./visible-text.ts";
import type { TurnParts } from "./turn-parts.ts";
import type { TurnQuestions } from "./turn-questions.ts";

/**
 * Passes the text of turns to their replies, through the messenger's filter. If a turn failed, the reply has the
 * messenger's text for that. A turn that answers people has one reply. The answer to a prompt goes to any number of
 * chats.
 */
export class TurnReplies {
  readonly #options: TurnParts;
  readonly #questions: TurnQuestions;
  /** The filter of each running reply. */
  readonly #filters = new Map<string, OutgoingText>();

  constructor(options: TurnParts, questions: TurnQuestions) {
    this.#options = options;
    this.#questions = questions;
  }

  /** Begins the replies of a turn, or continues them. */
  open(turn: Turn): void {
    for (const target of this.#targets(turn)) this.#open(turn, target);
  }

  /** Returns the sink for the streamed text of a turn. */
  sinkOf(turn: Turn): ReplyTextSink {
    const filters = this.#targets(turn).map((target) => {
      const filter = this.#newFilter(target);
      this.#filters.set(target.replyId, filter);
      return filter;
    });
    return {
      append: (delta) => filters.forEach((filter) => filter.append(delta)),
      replace: (text) => filters.forEach((filter) => filter.replace(text)),
      interrupt: () => filters.forEach((filter) => filter.interrupt()),
    };
  }

  /**
   * Completes the replies of an ended turn with its whole text. Shows nothing if the model chose silence. Returns the
   * length of the text, if a chat shows it.
   */
  finish(turn: Turn, outcome: EndedTurn): number | undefined {
    const lengths = this.#targets(turn).map((target) => {
      const text = this.#finalText(turn, target, outcome);
      this.#options.delivery.finish(target.replyId, text);
      return text.length;
    });
    return lengths.length === 0 ? undefined : Math.max(...lengths);
  }

  /** Keeps the visible text of a stopped turn, and adds the mark. */
  finishStopped(turn: Turn, said: string): void {
    for (const target of this.#targets(turn)) this.#finishStopped(turn, target, said);
  }

  /**
   * Ends those replies of a prompt that a person stopped, with a mark. Returns `undefined` if there are none, otherwise
   * whether the answer continues in other chats.
   */
  stopSome(
    turn: Turn,
    isMeant: (target: ReplyTarget) => boolean,
    said: string,
  ): "ended" | "goes-on" | undefined {
    const { delivery } = this.#options;
    const targets = this.#targets(turn).filter(
      ({ replyId }) => delivery.receipt(replyId)?.state === "streaming",
    );
    const meant = targets.filter(isMeant);
    if (meant.length === 0) return undefined;
    for (const target of meant) this.#finishStopped(turn, target, said);
    return meant.length < targets.length ? "goes-on" : "ended";
  }

  /** Whether any text of a reply is visible. */
  isSeen(replyId: string): boolean {
    const { delivery } = this.#options;
    return hasBegun(delivery.receipt(replyId)) || (delivery.seenText(replyId) ?? "") !== "";
  }

  /**
   * Completes the reply of a turn that ends because its chat takes no messages. The person reads what it had said so far
   * when the chat is back, and that it is not whole.
   */
  finishCut(turn: Turn, said: string): void {
    this.open(turn);
    this.finish(turn, { kind: "failed", text: said });
  }

  /** Tells the person that the messages up to this one are not answered. */
  tellStopped(id: string, event: MessengerEvent): void {
    this.#tell(id, event, "stoppedResponseText");
  }

  /**
   * Tells the person, when their chat is back, that these messages are not answered. Says nothing where the model may
   * choose silence.
   */
  tellUnanswered(id: string, events: readonly MessengerEvent[]): void {
    const event = events.at(-1);
    if (event === undefined || mayStaySilent(this.#options.messengers.get(event.messengerId), events)) return;
    this.#tell(id, event, "errorResponseText");
  }

  #tell(id: string, event: MessengerEvent, name: SafeText): void {
    const { delivery: policy } = this.#options.messengers.get(event.messengerId);
    const text = safeText(policy, name, event, this.#options.log);
    if (text.trim() === "") return;
    const start = { id, address: addressOf(event), policy: replyPolicy(policy), isAwaited: true };
    this.#options.delivery.send(start, text);
  }

  /**
   * Asks the person for patience, once in a turn. Does nothing in three cases: text is visible already (the answer
   * would continue above the notice), the model may choose silence, or no person asked.
   */
  tellWaiting(turn: Turn): void {
    if (turn.kind !== "messages") return;
    const { delivery, log } = this.#options;
    const definition = this.#options.messengers.get(turn.address.messengerId);
    if (silenceInstruction(definition, turn.context) !== undefined) return;
    if (hasBegun(delivery.receipt(turn.id))) return;
    const text = safeText(definition.delivery, "waitingResponseText", turn.context, log);
    if (text.trim() === "") return;
    sendNotice(delivery, waitingId(turn.id), turn.context, definition, text);
  }

  /** Drops a request for patience that has not been sent yet. It would arrive after the answer. */
  endWaiting(turnId: string): void {
    withdrawUnsent(this.#options.delivery, waitingId(turnId));
  }

  /** Keeps the text of a turn that made way for a later message, without a mark. */
  finishYielded(turn: Turn, said: string): void {
    for (const target of this.#targets(turn)) {
      this.#open(turn, target);
      this.#options.delivery.finish(target.replyId, this.#fragment(target, said));
    }
  }

  /** Withdraws a turn's reply. Its visible messages stay for the turn that replaces it. */
  withdraw(turn: MessagesTurn): void {
    this.#filters.delete(turn.id);
    this.#options.delivery.withdraw(turn.id);
  }

  /** Returns the replies of a turn whose chats the bot can still reach. */
  targets(turn: Turn): readonly ReplyTarget[] {
    return this.#targets(turn).filter(({ address }) =>
      this.#options.messengers.isDeclared(address.messengerId),
    );
  }

  /** Returns the replies of a turn. A chat of a messenger that the bot no longer has gets none. */
  #targets(turn: Turn): readonly ReplyTarget[] {
    if (turn.kind === "messages") {
      const { address, context, id, replaces } = turn;
      return [{ replyId: id, address, event: context, takesOver: replaces, isAwaited: true }];
    }
    const common = { event: undefined, isAwaited: turn.kind !== "prompt" };
    return this.#options.prompts
      .answerTo(turn.id)
      .map((address, index) => ({ replyId: replyIdOf(turn.id, index), address, ...common }))
      .filter(({ address }) => this.#options.messengers.isDeclared(address.messengerId));
  }

  #open(turn: Turn, target: ReplyTarget): void {
    const policy = this.#policy(target);
    // No person waits for the answer to a prompt.
    const typing = policy.typing ?? (turn.kind !== "prompt" && !this.#mayStaySilent(turn));
    this.#options.delivery.open(replyStartOf(target, { ...policy, typing }));
  }

  #finishStopped(turn: Turn, target: ReplyTarget, said: string): void {
    const { delivery, log } = this.#options;
    const mark = safeText(this.#policy(target), "stoppedResponseText", target.event, log);
    this.#open(turn, target);
    const text = this.#fragment(target, said);
    const seen = delivery.seenText(target.replyId) ?? text;
    delivery.finish(target.replyId, joinParagraphs(wasTakenOut(seen, said, text) ? text : seen, mark));
  }

  #finalText(turn: Turn, target: ReplyTarget, outcome: EndedTurn): string {
    const policy = this.#policy(target);
    const visible = (ended: EndedTurn): string =>
      visibleText(ended, policy, target.event, this.#options.log, this.#silenceOf(turn));
    if (outcome.kind !== "done") {
      const said = this.#fragment(target, outcome.text);
      // An interrupted attempt may have shown more than the last one said. People keep what they have read.
      const seen = this.#options.delivery.seenText(target.replyId) ?? "";
      const isKept = seen.length > said.length && !wasTakenOut(seen, outcome.text, said);
      return visible({ ...outcome, text: isKept ? seen : said });
    }
    const filter = this.#filters.get(target.replyId) ?? this.#newFilter(target);
    this.#filters.delete(target.replyId);
    const result = filter.finish(outcome.text);
    return result.kind === "silent" ? "" : visible({ kind: "done", text: result.text });
  }

  /**
   * Decides which empty or failed endings show nothing. No person asked a prompt, so it may end without a word. A
   * person who decided about an action is told if its outcome is lost.
   */
  #silenceOf(turn: Turn): Silence {
    const maySilent = this.#mayStaySilent(turn);
    return {
      onEmpty: maySilent || turn.kind !== "messages" || turn.waitingCalls.length > 0,
      onFailure: maySilent || turn.kind === "prompt",
    };
  }

  #mayStaySilent(turn: Turn): boolean {
    if (turn.kind !== "messages") return false;
    return mayStaySilent(
      this.#options.messengers.get(turn.address.messengerId),
      this.#questions.eventsOf(turn),
    );
  }

  #newFilter({ address, event, replyId }: ReplyTarget): OutgoingText {
    const { delivery, log } = this.#options;
    const sink = {
      append: (delta: string) => delivery.append(replyId, delta),
      replace: (text: string) => delivery.replace(replyId, text),
      interrupt: () => delivery.interrupt(replyId),
    };
    return replyFilter(this.#options.messengers.get(address.messengerId), event, sink, log);
  }

  #fragment({ address, event, replyId }: ReplyTarget, text: string): string {
    this.#filters.delete(replyId);
    const definition = this.#options.messengers.get(address.messengerId);
    const said = filteredFragment(definition, event, text, this.#options.log);
    // After a crash the turn may have less text than messages show that cannot be changed.
    const posted = this.#options.delivery.postedText(replyId);
    return posted.startsWith(said) ? posted : said;
  }

  #policy({ address }: ReplyTarget): DeliveryPolicy {
    return this.#options.messengers.get(address.messengerId).delivery ?? {};
  }
}

/** Returns the id of a prompt's reply in one of its chats. Bot code chooses ids of prompts, such as `news` and `news:1`. */
export function replyIdOf(promptId: string, index: number): string {
  return index === 0 ? promptId : `answer:${index}:${promptId}`;
}

/** Returns the id of the turn that a reply answers. That of any other reply is its own. */
export function turnOfReply(replyId: string): string {
  return /^(?:answer|attachment):\d+:(.*)$/s.exec(replyId)?.[1] ?? replyId;
}

function waitingId(turnId: string): string {
  return `waiting:${turnId}`;
}

/**
 * Tells whether the filter has taken a visible text out of what the model said, such as thoughts that were visible until
 * the model ended them. Markup does not count, because open markup of a visible text is closed.
 */
function wasTakenOut(seen: string, said: string, filtered: string): boolean {
  const words = (of: string): string => of.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
  return words(said).includes(words(seen)) && !words(filtered).includes(words(seen));
}

import type { CardBody, Delivery, DeliveryReceipt, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { Life } from "../machine/life.ts";
import { MOST_WORTH, WORTH } from "../plan/plan.ts";
import type { Plan, PlanItem, Size } from "../plan/plan.ts";
import type { ActionCall, Invariant, SurfaceCall } from "./contract.ts";
import { labelsOf, REMOVED } from "./card-watch.ts";
import { isRunOf, stripMark, wordsOf } from "./visible-text.ts";

export type Proposal = Extract<PlanItem, { kind: "proposal" }>;

/** A press of a button that decides. */
export interface Decision {
  readonly effect: string;
  readonly person: string;
  /** Label of the button. */
  readonly label: string;
  /** The size that the card showed, or that a form sends. */
  readonly size: Size | undefined;
  /** The answers that the person saw. */
  readonly notices: (string | undefined)[];
}

/** One call of an action with an effect of its own, in the outside world and in its chat. */
export interface Called {
  readonly call: ActionCall;
  readonly plan: Proposal;
  readonly threadId: string;
  readonly chatId: string;
  /** Number of the turn whose answer has its files: the one that calls it, or that tells its outcome. */
  turn: number;
  /** Whether people were asked, as the model was told. */
  isAsked: boolean;
  /** Whether the turn itself got a result of the action. */
  hasResult: boolean;
  /** Number of times that the work has begun. */
  runs: number;
  /** The size with which it has begun. */
  size: Size | undefined;
  /** When and in which processes the work has begun. */
  readonly begun: { readonly at: number; readonly life: Life }[];
}

/** Counts that prove that these cases occur. */
export interface ApprovalFigures {
  /** Actions about which people were asked. */
  asked: number;
  /** Presses that decided: with a yes, and with something else. */
  approved: number;
  refused: number;
  /** Presses of people who may not decide, and of those who were late. */
  bystanders: number;
  late: number;
  /** Presses that were counted, while others were missing. */
  agreed: number;
  /** Changes of an input, and actions that ran because of an earlier consent. */
  edited: number;
  granted: number;
  /** Work of actions that has begun, and begun again. */
  acted: number;
  actedAgain: number;
}

export interface ApprovalWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
  readonly chatOf: (threadId: string) => string;
  /** Whether the action of a message asks people from inside. */
  readonly asksItself: (token: string) => boolean;
  /** The newest delivery of a conversation. */
  readonly delivery: (conversation: string) => Delivery | undefined;
}

/** One card of an approval, with all that it was told to show. */
interface AskingCard {
  readonly id: string;
  readonly conversation: string;
  readonly threadId: string;
  readonly chatId: string;
  readonly faces: { readonly words: readonly string[]; readonly labels: readonly string[] }[];
  /** The newest face whose call was answered. */
  shown: number;
}

/** Longest time from the end of an action's work until nothing of it can be lost. */
const SETTLED_MS = 10_000;

/** Calls of code and of other agents have cards, too. */
const EFFECT = /\b(?:effect\d+|(?:work|task)\d+x\d+)\b/;

/** The answer to a person who has changed an input. */
const CHANGED = "Changed. It still has to be approved.";

/** The answers to presses that decide. */
const TOLD: Readonly<Record<string, string>> = {
  Approve: "Approved.",
  "Allow always": "Approved.",
  Reject: "Rejected.",
  "Take back": "Taken back.",
  "Ask for changes": "OK. Reply to the card with what should change.",
};

/**
 * Knows the effects of actions in the outside world, the presses of people, and the cards that asked them. An effect
 * happens once, after somebody who may has pressed the button for it, and never otherwise (I9).
 */
export class ApprovalWatch {
  readonly figures: ApprovalFigures = {
    asked: 0,
    approved: 0,
    refused: 0,
    bystanders: 0,
    late: 0,
    agreed: 0,
    edited: 0,
    granted: 0,
    acted: 0,
    actedAgain: 0,
  };
  /** By the names of their effects. */
  readonly called = new Map<string, Called>();
  readonly decisions = new Map<string, Decision>();
  /** Presses that send a form with another size. */
  readonly edits = new Map<string, Decision>();
  readonly #options: ApprovalWatchOptions;
  readonly #cards: AskingCard[] = [];
  /** The worth of effects that happened because of an earlier consent. */
  #spent = 0;

  constructor(options: ApprovalWatchOptions) {
    this.#options = options;
  }

  /** The action that is planned for the answer to some messages. */
  planned(tokens: readonly string[]): Proposal | undefined {
    return this.#options.items.find(
      (item): item is Proposal => item.kind === "proposal" && tokens.includes(item.token),
    );
  }

  /** A turn calls an action, for the first time or again after a crash. */
  calls(call: ActionCall, threadId: string): Called {
    const known = this.called.get(call.effect);
    if (known !== undefined) return known;
    const plan = this.planned([call.token]);
    if (plan === undefined) throw new Error(`Nobody has planned ${call.action}.`);
    const fresh = { isAsked: false, hasResult: false, runs: 0, size: undefined, begun: [] };
    const chatId = this.#options.chatOf(threadId);
    const turn = Number(call.effect.slice("effect".length));
    const called: Called = { call, plan, threadId, chatId, turn, ...fresh };
    this.called.set(call.effect, called);
    return called;
  }

  /** A turn begins that tells the outcome of an action. */
  onOutcome(effect: string, turn: number): void {
    const called = this.called.get(effect);
    // Its questions came from inside.
    if (called !== undefined && this.#options.asksItself(called.plan.token)) {
      called.turn = turn;
      return;
    }
    if (called === undefined || called.plan.approvers === "nobody")
      return this.#options.fail(
        "I9",
        `the model is told what became of ${effect}, and nobody was asked about it`,
      );
    // The process may have died before the model was told that the call waits.
    called.isAsked = true;
    called.turn = turn;
  }

  /** The newest call for a message about which people were asked. */
  newestOf(token: string): Called | undefined {
    return [...this.called.values()].findLast(({ call, isAsked }) => call.token === token && isAsked);
  }

  asked(called: Called): void {
    if (this.#options.asksItself(called.plan.token)) return;
    if (!called.isAsked) this.figures.asked += 1;
    called.isAsked = true;
  }

  /** A person presses a button of a card. */
  pressed(actionId: string, decision: Omit<Decision, "notices">): void {
    this.decisions.set(actionId, { ...decision, notices: [] });
  }

  /** A person sends the form of an input. */
  sends(actionId: string, edit: Omit<Decision, "notices">): void {
    this.edits.set(actionId, { ...edit, notices: [] });
  }

  /** A person is told what became of a press. */
  answered(actionId: string, notice: string | undefined): void {
    const edit = this.edits.get(actionId);
    edit?.notices.push(notice);
    if (edit !== undefined && notice === CHANGED) this.#edited(edit);
    const decision = this.decisions.get(actionId);
    const called = this.called.get(decision?.effect ?? "");
    if (decision === undefined || called === undefined) return;
    decision.notices.push(notice);
    const { effect, label, person } = decision;
    const isDecided = isTold(decision);
    if (isDecided && isYes(label)) this.figures.approved += 1;
    else if (isDecided) this.figures.refused += 1;
    this.#count(called, decision, notice);
    if (notice?.startsWith("You can't decide") === true) this.figures.bystanders += 1;
    if (
      notice?.startsWith("This was decided before") === true ||
      notice?.startsWith("It's too late") === true
    )
      this.figures.late += 1;
    if (isDecided && label !== "Take back" && !mayDecide(called, person))
      this.#options.fail(
        "I9",
        `${person} is told ${JSON.stringify(notice)} of ${effect}, and may not decide`,
      );
  }

  /** The work of an action begins, and has its effect at once. */
  runs({ effect, size }: Pick<ActionCall, "effect" | "size">, life: Life): void {
    const { fail } = this.#options;
    const called = this.called.get(effect);
    if (called === undefined) return fail("I9", `${effect} happens, and nobody has asked for it`);
    if (called.runs > 0 && called.size !== size)
      fail("I9", `${effect} happens ${called.size}, and then ${size}`);
    called.size = size;
    const { plan, runs } = called;
    this.figures[runs === 0 ? "acted" : "actedAgain"] += 1;
    called.runs += 1;
    called.begun.push({ at: this.#options.now(), life });
    // The outside system knows a key, and has the effect once.
    if (runs > 0 && plan.repeats !== "keyed") fail("I9", `${effect} happens ${called.runs} times`);
    if (plan.approvers === "nobody") return;
    const agreed = this.#agreedTo(called, size);
    if (plan.spends === true && agreed === 0 && this.#changesOf(effect).length === 0)
      return runs === 0 ? this.#spends(called) : undefined;
    this.#checkEdits(called);
    if (agreed === 0) fail("I9", `${effect} happens, and nobody who may has agreed`);
    else if (agreed < (plan.quorum ?? 1)) fail("I9", `${effect} happens, and only ${agreed} have agreed`);
  }

  /** The number of different people who may decide and have pressed Approve on a card with this size. */
  #agreedTo(called: Called, wanted: Size | undefined): number {
    const presses = [...this.decisions.values()].filter(
      ({ effect, label, person, size }) =>
        effect === called.call.effect && isYes(label) && size === wanted && mayDecide(called, person),
    );
    return new Set(presses.map(({ person }) => person)).size;
  }

  /** Nobody was asked about this effect: people have agreed to effects up to a sum in its chat. */
  #spends({ call: { effect }, size = "small", threadId }: Called): void {
    const { fail } = this.#options;
    const isAllowed = [...this.decisions.values()].some(
      (one) => one.label === "Allow always" && this.called.get(one.effect)?.threadId === threadId,
    );
    if (!isAllowed) return fail("I9", `${effect} happens, and nobody who may has agreed`);
    this.figures.granted += 1;
    this.#spent += WORTH[size];
    if (this.#spent > MOST_WORTH)
      fail("I9", `effects worth ${this.#spent} happen unasked, and people have agreed to ${MOST_WORTH}`);
  }

  /** Changes of an input that the person was told of. */
  #changesOf(effect: string): Decision[] {
    return [...this.edits.values()].filter(
      (edit) => edit.effect === effect && edit.notices.includes(CHANGED),
    );
  }

  /** Somebody is told that an input is changed. */
  #edited(edit: Decision): void {
    const called = this.called.get(edit.effect);
    if (called === undefined) return;
    this.figures.edited += 1;
    if (!mayDecide(called, edit.person))
      this.#options.fail("I9", `${edit.person} is told to have changed ${edit.effect}, and may not decide`);
    if (called.runs > 0) this.#checkEdits(called);
  }

  /** An input that was changed happens as somebody has sent it, and not as it was. */
  #checkEdits({ call: { effect }, size }: Called): void {
    if (this.#changesOf(effect).length === 0) return;
    const isSent = [...this.edits.values()].some((edit) => edit.effect === effect && edit.size === size);
    if (!isSent) this.#options.fail("I9", `${effect} happens ${size}, and was changed before`);
  }

  /** The count of those who have agreed is never more than people have pressed. */
  #count(called: Called, { size }: Decision, notice: string | undefined): void {
    const [, count] = /^Noted: (\d+) of \d+ have approved\.$/.exec(notice ?? "") ?? [];
    if (count === undefined) return;
    this.figures.agreed += 1;
    if (Number(count) > this.#agreedTo(called, size))
      this.#options.fail("I9", `${count} are said to agree to ${called.call.effect}, and fewer have`);
  }

  /** Whether the outside system has had an effect. */
  hasRun(effect: string): boolean {
    return (this.called.get(effect)?.runs ?? 0) > 0;
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(conversation: string, delivery: Delivery, life: Pick<Life, "isDead">): void {
    const sendCard = delivery.sendCard.bind(delivery);
    const revise = delivery.revise.bind(delivery);
    const note = (id: string, body: CardBody, start?: ReplyStart): void => {
      if (life.isDead) return;
      let card = this.#cards.find((one) => one.conversation === conversation && one.id === id);
      if (card === undefined) {
        if (start === undefined || !EFFECT.test(wordsOfBody(body).join(" "))) return;
        const { chatId, threadId } = start.address;
        card = { id, conversation, threadId, chatId, faces: [], shown: -1 };
        this.#cards.push(card);
      }
      card.faces.push({ words: wordsOfBody(body), labels: labelsOf(body.buttons) });
    };
    Object.assign(delivery, {
      sendCard: (start, body, options) => {
        note(start.id, body, start);
        sendCard(start, body, options);
      },
      revise: (id, body, ifDeleted) => {
        note(id, body);
        return revise(id, body, ifDeleted);
      },
    } satisfies Partial<Delivery>);
  }

  /** Whether a message in a thread is the card of an approval, or one of its messages. */
  isCard({ text }: { readonly text: string }, threadId: string): boolean {
    if (EFFECT.test(text)) return true;
    const cards = this.#cards.filter((card) => card.threadId === threadId);
    if (stripMark(text) === REMOVED) return cards.some(({ faces }) => faces.length > 1);
    const words = wordsOf(text);
    return words.length > 0 && cards.some((card) => newestFace(card, words) >= 0);
  }

  receiptsIn(threadId: string): DeliveryReceipt[] {
    return this.#cards
      .filter((card) => card.threadId === threadId)
      .flatMap((card) => this.#receiptOf(card) ?? []);
  }

  hasOpen(conversation: string, chatId: string): boolean {
    return this.#cards.some(
      (card) =>
        card.conversation === conversation &&
        card.chatId === chatId &&
        this.#receiptOf(card)?.state === "final",
    );
  }

  /** Whether an outbox row of a card says that its post is under way. */
  isSending(conversation: string, threadId: string): boolean {
    return this.#cards.some(
      (card) =>
        card.conversation === conversation &&
        card.threadId === threadId &&
        this.#receiptOf(card)?.messages.some(({ state }) => state === "sending") === true,
    );
  }

  /** A call shows only what a card was told, where it was told, and nothing that is older than what it shows already. */
  onCall({ address, content, number }: SurfaceCall, life: Life): void {
    const { fail } = this.#options;
    if (stripMark(content?.text ?? "") === REMOVED) return;
    const words = wordsOf(content?.text ?? "");
    const cards = this.#shownBy(words, address.threadId, life.name);
    if (cards.length === 0)
      return fail("I5", `call #${number} shows no state of an approval: ${content?.text ?? ""}`);
    // A message below the first one may have words that other states have, too, and forms look alike.
    if (EFFECT.test(content?.text ?? "") && cards.every((card) => newestFace(card, words) < card.shown))
      fail("I5", `call #${number} takes the card of an approval back: ${content?.text ?? ""}`);
  }

  onAnswer({ address, content }: SurfaceCall, error: unknown): void {
    if (error !== undefined || content === undefined) return;
    const words = wordsOf(content.text);
    for (const card of this.#cards)
      if (card.threadId === address.threadId && content.text !== "" && EFFECT.test(content.text))
        card.shown = Math.max(card.shown, oldestFace(card, words));
  }

  #shownBy(words: readonly string[], threadId: string, conversation: string): AskingCard[] {
    return this.#cards.filter(
      (card) =>
        card.threadId === threadId && card.conversation === conversation && newestFace(card, words) >= 0,
    );
  }

  #receiptOf({ conversation, id }: AskingCard): DeliveryReceipt | undefined {
    return this.#options.delivery(conversation)?.receipt(id);
  }
}

/** Whether a process died during the work of an action, or before its end was stored everywhere. */
export function wasCut({ begun, plan }: Called): boolean {
  return begun.some(({ at, life }) => life.diedAt < at + plan.workMs + SETTLED_MS);
}

/** Whether the person was told that the press has decided. */
export function isTold({ label, notices }: Pick<Decision, "label" | "notices">): boolean {
  const words = TOLD[label];
  // Consent to later calls is explained in the same answer.
  const isWords = (notice = ""): boolean =>
    label === "Allow always" ? notice.startsWith("Approved.") : notice === words;
  return words !== undefined && notices.some(isWords);
}

/** Whether a button agrees. */
export function isYes(label: string): boolean {
  return label === "Approve" || label === "Allow always";
}

/** Whether somebody may decide about a call. */
export function mayDecide({ plan }: Called, person: string): boolean {
  return plan.approvers === "anyone" || (plan.approvers === "ada" && person === "7");
}

function newestFace({ faces }: AskingCard, words: readonly string[]): number {
  return faces.findLastIndex((face) => isRunOf(words, face.words));
}

function oldestFace({ faces }: AskingCard, words: readonly string[]): number {
  return faces.findIndex((face) => isRunOf(words, face.words));
}

function wordsOfBody({ fields = [], text }: CardBody): readonly string[] {
  return [...wordsOf(text), ...fields.flatMap(({ label, value }) => [...wordsOf(label), ...wordsOf(value)])];
}

import * as fc from "fast-check";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import { scopeOf } from "./consent-bot.ts";
import type { Effect } from "./consent-bot.ts";
import { ConsentRig } from "./consent-rig.ts";
import type { Call, PressResult, ShownCard } from "./consent-rig.ts";
import type { Planted } from "./planted.ts";

const HOUR_MS = 60 * 60_000;

const killAt = fc.oneof(
  { weight: 3, arbitrary: fc.constant(Infinity) },
  { weight: 2, arbitrary: fc.nat({ max: 14 }) },
);
const button = fc.record({
  card: fc.constantFrom(0, 0, 0, 1, 1, 2, 5),
  // The index of one of `LABELS`.
  label: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 6),
  person: fc.constantFrom("dana", "eli", "dana", "eli", "anna", "mallory"),
});

const LABELS = [
  "Approve",
  "Reject",
  "Ask for changes",
  "Take back",
  "Allow for this request",
  "Allow for an hour",
  "Allow always",
];

/** Returns the decision behind a button. Some approve more than one call. */
function decisionOf(label: string): string {
  return label.startsWith("Allow") ? "Approve" : label;
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      person: fc.constantFrom("anna", "anna", "anna", "boris", "dana"),
      order: fc.constantFrom("1", "2", "3", "4", "5", "6", "7"),
      isPrivate: fc.constantFrom(false, false, true),
      size: fc.constantFrom(5_000, 5_000, 20_000),
      // The harness repeats an interrupted call, or a person edits the question that asked.
      again: fc.constantFrom("new", "new", "new", "same call", "edited", "same turn"),
      killAt,
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant("press" as const),
      first: button,
      second: fc.option(button, { freq: 3 }),
      place: fc.constantFrom("here", "here", "here", "here", "elsewhere"),
      killAt,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      card: fc.constantFrom(0, 0, 0, 1, 2),
      text: fc.constantFrom("yes", "yes", "no", "no, too much", "yes but less", "because"),
      person: fc.constantFrom("dana", "eli", "dana", "anna", "mallory"),
      isReply: fc.constantFrom(true, true, false),
      killAt,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("new" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      minutes: fc.constantFrom(0, 1, 20, 29, 30, 59.999, 60, 600),
      isLate: fc.constantFrom(false, false, true),
      killAt,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("rights" as const),
      who: fc.constantFrom("anna", "boris"),
      has: fc.constantFrom(true, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("revoke" as const), nth: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const) }) },
);

/** Somebody presses "Show" under `/approvals` in the own private chat. */
const bring = fc.record({
  kind: fc.constant("bring" as const),
  card: fc.constantFrom(0, 0, 1, 2),
  person: fc.constantFrom("dana", "eli", "eli", "anna", "mallory"),
  killAt,
});

/** What people, the model, time and crashes do, in order. */
export const stories = fc.array(step, { minLength: 6, maxLength: 24, size: "max" });

/** Stories in which people also have cards brought to their own chats. */
export const broughtStories = fc.array(
  fc.oneof({ weight: 4, arbitrary: step }, { weight: 1, arbitrary: bring }),
  { minLength: 6, maxLength: 24, size: "max" },
);
export type Story = typeof broughtStories extends fc.Arbitrary<infer Value> ? Value : never;

/** Stories in which the calls of a grant come when it is over. */
export const grantStories: fc.Arbitrary<Story> = fc
  .record({
    before: fc.array(step, { maxLength: 4 }),
    label: fc.constantFrom(4, 5, 5, 6),
    end: fc.constantFrom<Story[number]>(
      { kind: "pass", minutes: 60, isLate: false, killAt: Infinity },
      { kind: "pass", minutes: 600, isLate: true, killAt: Infinity },
      { kind: "revoke", nth: 0 },
    ),
    after: fc.array(step, { maxLength: 4 }),
  })
  .map(({ after, before, end, label }) => {
    const ask = {
      kind: "ask",
      person: "anna",
      isPrivate: false,
      size: 5_000,
      again: "new",
      killAt: Infinity,
    } as const;
    const press = { kind: "press", place: "here", second: null, killAt: Infinity } as const;
    return [
      ...before,
      { ...ask, order: "1" },
      { ...press, first: { card: 0, label, person: "dana" } },
      end,
      { ...ask, order: "2" },
      ...after,
    ];
  });

interface Press {
  readonly card: ShownCard;
  readonly label: string;
  readonly person: string;
  readonly at: number;
  /** Whether this person may decide, here and now. */
  readonly isValid: boolean;
  readonly isTyped?: boolean;
  result: PressResult | undefined;
}

/** Totals of a story, so that a test can see that something has happened. */
export interface Told {
  readonly effects: number;
  readonly decided: number;
  readonly granted: number;
  readonly reminded: number;
  readonly typed: number;
  readonly brought: number;
}

/**
 * Plays a story and throws at the first thing that must never happen. It judges by what people saw and pressed, and by
 * the money that was paid back, not by what the parts have stored.
 */
export class Judge {
  readonly #rig: ConsentRig;
  readonly #calls: Call[] = [];
  readonly #presses: Press[] = [];
  /** When each card was asked. */
  readonly #askedAt = new Map<ShownCard, number>();
  /** Turns that began when their person had the right. */
  readonly #heldRights = new Set<string>();
  readonly #revoked = new Map<string, number>();
  #judged = 0;
  #brought = 0;
  #granted = 0;
  #reminded = 0;

  constructor(planted: Planted = {}) {
    this.#rig = new ConsentRig(planted);
  }

  async play(story: Story): Promise<Told> {
    const rig = this.#rig;
    for (const one of story) {
      if ("killAt" in one) rig.killAt(one.killAt);
      switch (one.kind) {
        case "ask":
          await this.#ask(one);
          break;
        case "press":
          await this.#press(one);
          break;
        case "write":
          await this.#write(one);
          break;
        case "bring":
          await this.#bring(one);
          break;
        case "new":
          await this.#beginAnew();
          break;
        case "pass":
          await rig.pass(one.minutes, one.isLate);
          break;
        case "rights":
          if (one.has) rig.holders.add(one.who);
          else rig.holders.delete(one.who);
          break;
        case "revoke": {
          const approval = await rig.revoke(one.nth, "eli");
          if (approval !== undefined) this.#revoked.set(`approval:${approval}`, rig.clock.now());
          break;
        }
        case "die":
          rig.kill();
          break;
      }
      rig.killAt(Infinity);
      this.#judge();
    }
    await rig.rest();
    this.#judge();
    this.#judgeEnd();
    return {
      effects: rig.effects.length,
      decided: this.#presses.filter(({ result }) => result === "decided").length,
      granted: this.#granted,
      reminded: this.#reminded,
      brought: this.#brought,
      typed: this.#presses.filter(({ isTyped, result }) => isTyped === true && result === "decided").length,
    };
  }

  async #ask(asked: Extract<Story[number], { kind: "ask" }>): Promise<void> {
    const last = this.#calls.at(-1);
    const count = this.#calls.length;
    const isRepeated = asked.again === "same call" && last !== undefined;
    const isEdited = asked.again === "edited" && last !== undefined;
    const isSameTurn = asked.again === "same turn" && last !== undefined;
    const call: Call = isRepeated
      ? last
      : {
          turn: isSameTurn ? last.turn : `turn${count}`,
          toolCall: `call${count}`,
          person: isEdited || isSameTurn ? last.person : asked.person,
          order: isEdited ? last.order : `${asked.isPrivate ? "p" : ""}${asked.order}`,
          isPrivate: isEdited ? last.isPrivate : asked.isPrivate,
          amount: asked.size + count,
        };
    if (!isRepeated) this.#calls.push(call);
    const isFirst = this.#calls.every((other) => other === call || other.turn !== call.turn);
    if (isFirst && this.#rig.holders.has(call.person)) this.#heldRights.add(call.turn);
    await this.#rig.ask(call);
  }

  async #press({ first, place, second }: Extract<Story[number], { kind: "press" }>): Promise<void> {
    const both = second === null ? [first] : [first, second];
    await Promise.all(
      both.map(async ({ card: back, label, person }) => {
        const card = this.#rig.cards.at(-1 - back);
        if (card === undefined) return;
        const pressed = await this.#buttonOf(card, label, person, place);
        if (pressed === undefined) return;
        const at = this.#rig.clock.now();
        const requester = this.#callOf(card)?.person;
        const isRequester = person === requester;
        const isApprover = (person === "dana" || person === "eli") && !isRequester;
        const mayPress = pressed.label === "Take back" ? isRequester : isApprover;
        const isInTime = at < (this.#askedAt.get(card) ?? at) + HOUR_MS;
        const press: Press = {
          card,
          label: pressed.label,
          person,
          at,
          isValid: mayPress && isInTime && place === "here",
          result: undefined,
        };
        this.#presses.push(press);
        press.result = await this.#rig.press(card, pressed.token, person, place);
        this.#check(press);
      }),
    );
  }

  /** Finds a button of a card. For one that the first face lacks, the person turns the card first. */
  async #buttonOf(
    card: ShownCard,
    label: number,
    person: string,
    place: "here" | "elsewhere",
  ): Promise<ShownCard["buttons"][number] | undefined> {
    const find = (wanted: string | undefined): ShownCard["buttons"][number] | undefined =>
      card.buttons.find((button) => button.label === wanted);
    const turn = find("More");
    if (find(LABELS[label]) === undefined && turn !== undefined) {
      const result = await this.#rig.press(card, turn.token, person, place);
      if (result === "decided") throw new Error("somebody decides by turning a card");
    }
    return find(LABELS[label]);
  }

  /** A card comes to those who may decide, and to nobody else. */
  async #bring({ card: back, person }: Extract<Story[number], { kind: "bring" }>): Promise<void> {
    const card = this.#rig.cards.at(-1 - back);
    if (card === undefined) return;
    const count = this.#rig.cards.length;
    await this.#rig.bring(approvalOf(card), person);
    const isApprover = (person === "dana" || person === "eli") && person !== this.#callOf(card)?.person;
    if (this.#rig.cards.length === count) return;
    if (!isApprover) throw new Error(`a card is brought to ${person}, who may not decide`);
    this.#brought += 1;
  }

  /** Words count like a press if they quote the card and are nothing but a decision. Otherwise they decide nothing. */
  async #write({
    card: back,
    isReply,
    person,
    text,
  }: Extract<Story[number], { kind: "write" }>): Promise<void> {
    const card = this.#rig.cards.at(-1 - back);
    if (card === undefined) return;
    const at = this.#rig.clock.now();
    const label = text === "yes" ? "Approve" : "Reject";
    const isDecision = text === "yes" || text.startsWith("no");
    const isApprover = (person === "dana" || person === "eli") && person !== this.#callOf(card)?.person;
    const isInTime = at < (this.#askedAt.get(card) ?? at) + HOUR_MS;
    const isValid = isReply && isDecision && isApprover && isInTime;
    const press: Press = { card, label, person, at, isValid, isTyped: true, result: undefined };
    this.#presses.push(press);
    press.result = await this.#rig.write(card, text, person, isReply);
    this.#check(press);
  }

  async #beginAnew(): Promise<void> {
    const open = (): string[] =>
      this.#rig
        .approvals()
        .filter(({ state }) => state === "waiting")
        .map(({ id }) => id);
    const before = open();
    await this.#rig.beginAnew();
    const after = new Set(open());
    if (before.some((id) => !after.has(id))) throw new Error("a new session takes back what waits");
  }

  /** Judges everything that is new since the last step. */
  #judge(): void {
    const { cards, clock, effects } = this.#rig;
    for (const card of cards) if (!this.#askedAt.has(card)) this.#askedAt.set(card, clock.now());
    for (const effect of effects.slice(this.#judged)) this.#judgeEffect(effect);
    this.#judged = effects.length;
    const approvals = this.#rig.approvals();
    for (const card of cards) {
      const id = approvalOf(card);
      const decided = this.#presses.filter(
        (press) => approvalOf(press.card) === id && press.result === "decided",
      );
      // A second tap of the same person for the same is acknowledged like the first one.
      const deciders = new Set(decided.map(({ label, person }) => `${person} ${decisionOf(label)}`));
      if (deciders.size > 1) throw new Error("two people are told that they have decided");
      const shown = this.#rig.shown(card.id);
      const stored = approvals.find((approval) => approval.id === id);
      const isOpenOnScreen = shown?.buttons !== undefined;
      if (stored?.state === "waiting" && !isOpenOnScreen)
        throw new Error("a card shows a decision that is not stored");
    }
  }

  #judgeEffect(effect: Effect): void {
    const { call, person: asker } = effect;
    const { effects, holders } = this.#rig;
    if (effects.filter((other) => other.call.order === call.order).length > 1)
      throw new Error("an order is paid back twice");
    const asked = this.#calls.find(({ amount }) => amount === call.amount);
    if (asked === undefined || asked.order !== call.order || asked.person !== asker)
      throw new Error("something is paid back that nobody has asked for");
    const isAgreed = this.#presses.some((press) => this.#allows(press, asked));
    // Rights are asked for once in a turn, and again right before a call that somebody has agreed to.
    const hasRights = holders.has(asked.person) || (!isAgreed && this.#heldRights.has(asked.turn));
    if (!hasRights) throw new Error("money is paid back with somebody else's rights");
    if (isAgreed) return;
    if (!this.#presses.some((press) => this.#grants(press, asked, effect)))
      throw new Error("money is paid back without a valid decision over exactly this call");
    this.#granted += 1;
  }

  /** Whether a press is a valid decision about exactly this call. */
  #allows({ card, isValid, label, result }: Press, asked: Call): boolean {
    return isValid && decisionOf(label) === "Approve" && result !== "refused" && this.#callOf(card) === asked;
  }

  /** Whether a press has given a grant that covers this call. */
  #grants(press: Press, asked: Call, { at }: Effect): boolean {
    const about = this.#callOf(press.card);
    if (!press.label.startsWith("Allow") || about === undefined || !this.#allows(press, about)) return false;
    const revokedAt = this.#revoked.get(press.card.id) ?? Infinity;
    const isInTime = press.label.includes("hour") ? at < press.at + HOUR_MS : at < press.at + 24 * HOUR_MS;
    const isOfRequest = !press.label.includes("request") || about.turn === asked.turn;
    return (
      at <= revokedAt &&
      (isInTime || press.label.includes("always")) &&
      isOfRequest &&
      about.person === asked.person &&
      scopeOf(about.amount) === scopeOf(asked.amount)
    );
  }

  /** The call that a card was about when it was first shown. */
  #callOf(card: ShownCard): Call | undefined {
    return this.#calls.find(({ amount }) => card.text.includes(String(amount)));
  }

  /** A press counts only of somebody who may decide, or has: who decided in time may press again at any time. */
  #check({ card, isValid, label, person, result }: Press): void {
    if (result !== "decided" || isValid) return;
    const hasDecided = this.#presses.some(
      (press) =>
        press.isValid &&
        press.card === card &&
        press.person === person &&
        (press.result === "decided" || press.result === "died"),
    );
    if (!hasDecided) throw new Error(`${person} decides "${label}" without being allowed to`);
  }

  #judgeEnd(): void {
    for (const approval of this.#rig.approvals()) {
      const { decidedBy, drawnState, id, input, isInline, state } = approval;
      if (isInline) {
        this.#judgeUse(approval);
        continue;
      }
      if (state === "waiting" || state === "approved" || state === "running")
        throw new Error(`a request is ${state} in the end`);
      const ofRequest = this.#rig.cards.filter((card) => approvalOf(card) === id);
      const hasButtons = ofRequest.some((card) => this.#rig.shown(card.id)?.buttons !== undefined);
      if (drawnState !== state || hasButtons) throw new Error("a card does not show the end of its request");
      this.#judgeReminders(approval);
      // A request that the model itself has replaced ends in silence.
      const isSilent = state === "replaced" && decidedBy === undefined;
      const told = this.#rig.told(id);
      const isOnce = new Set(told).size === told.length && told.length <= (approval.isExplained ? 2 : 1);
      if (!isOnce || (told.length === 0) !== isSilent) throw new Error("an outcome is not told exactly once");
      if (state === "done" && !this.#isPaid(input)) throw new Error("an outcome says what has not happened");
    }
  }

  /** The audit says of each use of a grant what became of it, and says the truth. */
  #judgeUse({ input, outcome, state }: Approval): void {
    if (state === "approved") throw new Error("a use of a grant has no outcome in the end");
    const isPaid = this.#isPaid(input);
    if (state === "done" && !isPaid) throw new Error("a use of a grant says what has not happened");
    const isUndone = JSON.stringify(outcome).includes("ActionInterruptedError");
    if (isUndone && isPaid) throw new Error("a use of a grant denies what has happened");
  }

  #isPaid(input: Approval["input"]): boolean {
    return this.#rig.effects.some(
      ({ call }) => JSON.stringify(input) === JSON.stringify({ order: call.order, amount: call.amount }),
    );
  }

  /** People are reminded once in each chat in which they are asked, and never after the end. */
  #judgeReminders({ id }: Approval): void {
    const reminders = this.#rig.reminders(id);
    if (new Set(reminders.map((one) => one.id)).size < reminders.length)
      throw new Error("people are reminded twice");
    if (reminders.some(({ isLate }) => isLate)) throw new Error("people are reminded of what is over");
    this.#reminded += reminders.length;
  }
}

/** Id of the approval that a card shows. */
function approvalOf({ id }: ShownCard): string {
  return id.split(":")[1] ?? "";
}

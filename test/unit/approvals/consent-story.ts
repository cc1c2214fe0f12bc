import * as fc from "fast-check";
import type { Approval } from "../../../src/approvals/approval.ts";
import { ConsentRig, scopeOf } from "./consent-rig.ts";
import type { Call, Effect, Planted, PressResult, ShownCard } from "./consent-rig.ts";

const HOUR_MS = 60 * 60_000;

const killAt = fc.oneof(
  { weight: 3, arbitrary: fc.constant(Infinity) },
  { weight: 2, arbitrary: fc.nat({ max: 14 }) },
);
const button = fc.record({
  card: fc.constantFrom(0, 0, 0, 1, 1, 2, 5),
  // Approve, reject, ask for changes, take back, and the grants.
  label: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 6),
  person: fc.constantFrom("dana", "eli", "dana", "eli", "anna", "mallory"),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      person: fc.constantFrom("anna", "anna", "anna", "boris", "dana"),
      order: fc.constantFrom("1", "2", "3", "4", "5", "6", "7"),
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
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      minutes: fc.constantFrom(0, 1, 29, 30, 59.999, 60, 600),
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke" as const), nth: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const) }) },
);

/** What people, the model, time and crashes do, in order. */
export const stories = fc.array(step, { minLength: 6, maxLength: 24, size: "max" });
export type Story = typeof stories extends fc.Arbitrary<infer Value> ? Value : never;

interface Press {
  readonly card: ShownCard;
  readonly label: string;
  readonly person: string;
  readonly at: number;
  /** Whether this person may decide, here and now. */
  readonly isValid: boolean;
  result: PressResult | undefined;
}

/** Totals of a story, so that a test can see that something has happened. */
export interface Told {
  readonly effects: number;
  readonly decided: number;
  readonly granted: number;
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
  #granted = 0;

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
          order: isEdited ? last.order : asked.order,
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
        const pressed = card?.buttons[label % Math.max(1, card.buttons.length)];
        if (card === undefined || pressed === undefined) return;
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
        press.result = await this.#rig.press(pressed.token, person, place);
        if (press.result === "decided" && !press.isValid)
          throw new Error(`${person} decides "${press.label}" without being allowed to`);
      }),
    );
  }

  /** Judges everything that is new since the last step. */
  #judge(): void {
    const { cards, clock, effects } = this.#rig;
    for (const card of cards) if (!this.#askedAt.has(card)) this.#askedAt.set(card, clock.now());
    for (const effect of effects.slice(this.#judged)) this.#judgeEffect(effect);
    this.#judged = effects.length;
    const approvals = this.#rig.approvals();
    for (const card of cards) {
      const decided = this.#presses.filter((press) => press.card === card && press.result === "decided");
      if (decided.length > 1) throw new Error("two people are told that they have decided");
      const shown = this.#rig.shown(card.id);
      const stored = approvals.find(({ id }) => card.id === `approval:${id}`);
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
    const isApproval = label === "Approve" || label.startsWith("Yes,");
    return isValid && isApproval && result !== "refused" && this.#callOf(card) === asked;
  }

  /** Whether a press has given a grant that covers this call. */
  #grants(press: Press, asked: Call, { at }: Effect): boolean {
    const about = this.#callOf(press.card);
    if (!press.label.startsWith("Yes,") || about === undefined || !this.#allows(press, about)) return false;
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

  #judgeEnd(): void {
    for (const approval of this.#rig.approvals()) {
      const { decidedBy, drawnState, id, input, isInline, state } = approval;
      if (isInline) {
        this.#judgeUse(approval);
        continue;
      }
      if (state === "waiting" || state === "approved" || state === "running")
        throw new Error(`a request is ${state} in the end`);
      if (drawnState !== state || this.#rig.shown(`approval:${id}`)?.buttons !== undefined)
        throw new Error("a card does not show the end of its request");
      // A request that the model itself has replaced ends in silence.
      const isSilent = state === "replaced" && decidedBy === undefined;
      if (this.#rig.told(id) !== (isSilent ? 0 : 1)) throw new Error("an outcome is not told exactly once");
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
}

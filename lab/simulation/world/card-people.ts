import type { Place, PlanItem } from "../plan/plan.ts";
import type { Random } from "../../support/random.ts";
import { sayUntilStored } from "./say-until-stored.ts";
import type { World } from "./world.ts";

type PlannedCard = Extract<PlanItem, { kind: "card" }>;

/** People's answers to cards other than presses, and the updates that report them. */
export interface CardUpdates {
  readonly writeCommand: (place: Place, token: string) => void;
  /** Returns the id of the person who presses: one of several in a group. @default the chat draws one */
  readonly tellPress: (
    place: Place,
    actionId: string,
    pressed: { readonly data: string; readonly messageId: string },
    person?: string,
  ) => string;
}

const ONCE = { times: 1 };
/** A person who wants to decide looks for a card this often. */
const MOST_LOOKS = 12;
const LOOK_EVERY_MS = 2_000;

/** Cards: who has them posted and changed, and who presses their buttons. */
export class CardPeople {
  readonly #world: World;
  readonly #random: Random;
  readonly #people: CardUpdates;

  constructor(world: World, random: Random, people: CardUpdates) {
    this.#world = world;
    this.#random = random;
    this.#people = people;
  }

  post({ by, from, token }: PlannedCard, place: Place): void {
    const { bot, plan } = this.#world;
    if (by === "command") {
      this.#people.writeCommand(place, token);
      return;
    }
    sayUntilStored(this.#world, this.#random, {
      speaker: plan.places[from] ?? place,
      place,
      token,
      content: () => bot.next(token),
    });
  }

  /** The bot's own code changes a card that it has posted, again until it hears that this is durable. */
  change(item: Extract<PlanItem, { kind: "revise-card" | "remove-card" }>): void {
    const { bot, isDown, oracle, scheduler, threads, trace } = this.#world;
    const card = oracle.cards.cards.get(item.token);
    const thread = threads.get(card?.conversation ?? "");
    if (card === undefined || thread === undefined) return;
    const once = (): void => {
      let isSettled = false;
      const settle = (isStored: boolean): void => {
        if (isSettled) return;
        isSettled = true;
        if (!isStored) {
          scheduler.after(this.#random.int(50, 800), () => this.change({ ...item, ...ONCE }));
        }
      };
      if (isDown) return settle(false);
      trace.add("bot", () => `${item.kind} ${item.token}`);
      thread
        .changeCards(async (cards) => {
          if (item.kind === "remove-card") cards.remove(card.id);
          else await cards.reviseWhenReady(card.id, bot.next(item.token));
        })
        .then(
          () => settle(true),
          () => settle(false),
        );
      scheduler.after(3_000, () => settle(false));
    };
    const times = item.kind === "revise-card" ? item.times : 1;
    for (let left = times; left > 0; left -= 1) once();
  }

  /**
   * A button of the newest card that asks about an action, as the person sees it or has seen it. Waits for a card, and
   * for the button.
   */
  decide(item: Extract<PlanItem, { kind: "decide" }>, looks = 1): void {
    const { oracle, plan, platform, scheduler, trace } = this.#world;
    const { button, person: wanted, proposal, token } = item;
    const called = oracle.approvals.newestOf(proposal);
    const place = plan.places.find(({ threadId }) => threadId === called?.threadId);
    const isAbout = ({ text }: { readonly text: string }): boolean =>
      new RegExp(`\\b${called?.call.effect ?? "none"}\\b`).test(text);
    const now = place === undefined ? undefined : platform.visible(place.threadId).findLast(isAbout);
    const seen = platform.keyboards.filter(({ threadId }) => threadId === place?.threadId).findLast(isAbout);
    // A person may press what they have seen a moment ago.
    const shown = now?.buttons === undefined ? seen : now;
    const buttons = now === undefined ? undefined : shown?.buttons;
    const pressed = buttons?.flat().find(({ kind, label }) => kind === "callback" && label === button);
    if (called === undefined || place === undefined || pressed?.kind !== "callback") {
      if (looks < MOST_LOOKS) scheduler.after(LOOK_EVERY_MS, () => this.decide(item, looks + 1));
      return;
    }
    const { effect } = called.call;
    trace.add("person", () => `${wanted} presses ${token}: ${button} of ${effect} in ${place.threadId}`);
    oracle.presses.pressed(token, place.threadId, undefined, true);
    const person = place.isDirectMessage ? "7" : wanted;
    oracle.approvals.pressed(token, { effect, label: button, person });
    this.#people.tellPress(place, token, { data: pressed.token, messageId: String(shown?.id) }, person);
  }

  /** A button of a card as the person sees it, or has seen it. */
  press({ button, card, isOld, token }: Extract<PlanItem, { kind: "press-card" }>): void {
    const { oracle, plan, platform, trace } = this.#world;
    const { threadId } = oracle.cards.cards.get(card) ?? {};
    const place = plan.places.find((one) => one.threadId === threadId);
    if (place === undefined) return;
    const seen = isOld ? platform.keyboards : platform.visible(place.threadId);
    const messages = seen.filter(({ buttons, text }) => buttons !== undefined && text.includes(`${card}v`));
    const shown = isOld ? messages[0] : messages.at(-1);
    const isMeant = ({ label }: { label: string }): boolean => (label === "keep") === (button === "keep");
    const pressed = shown?.buttons?.flat().find((one) => one.kind === "callback" && isMeant(one));
    if (pressed?.kind !== "callback") return;
    trace.add("person", () => `presses ${token}: ${pressed.label} of ${card} in ${place.threadId}`);
    const { label, token: data } = pressed;
    const person = this.#people.tellPress(place, token, { data, messageId: String(shown?.id) });
    oracle.presses.pressed(token, place.threadId, { card, label, data, person });
  }
}

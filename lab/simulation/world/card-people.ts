import { isForm } from "../oracle/check-approvals.ts";
import { WORTH } from "../plan/plan.ts";
import type { OutgoingButton } from "../../../src/core/chat/surface.ts";
import type { Place, PlanItem, Size } from "../plan/plan.ts";
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
/** The same for the form of an input, which takes several presses, and has its own limit of them. */
const MOST_FORM_LOOKS = 150;
/** A button is pressed again if nothing has changed after so many looks. */
const PATIENT_LOOKS = 40;
const NOTHING_PRESSED = { label: "", look: 0 };

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
    const effect = called?.call.effect ?? "none";
    const now = place && findButton(platform.visible(place.threadId), effect, [button]);
    const seen = platform.keyboards.filter(({ threadId }) => threadId === place?.threadId);
    // A person may press what they have seen a moment ago.
    const found = now?.hasButtons === false ? findButton(seen, effect, [button]) : now;
    const pressed = found?.button;
    if (called === undefined || place === undefined || pressed?.kind !== "callback") {
      if (looks < MOST_LOOKS) scheduler.after(LOOK_EVERY_MS, () => this.decide(item, looks + 1));
      return;
    }
    trace.add("person", () => `${wanted} presses ${token}: ${button} of ${effect} in ${place.threadId}`);
    oracle.presses.pressed(token, place.threadId, undefined, true);
    const person = place.isDirectMessage ? "7" : wanted;
    oracle.approvals.pressed(token, { effect, label: button, person, size: sizeIn(found?.text ?? "") });
    this.#people.tellPress(place, token, { data: pressed.token, messageId: String(found?.id) }, person);
  }

  /**
   * Opens the form of the newest card that asks about an action, chooses a size, and sends it. Looks at the chat before
   * each press, and gives the chat time to show what a press has changed.
   */
  changeInput(item: Extract<PlanItem, { kind: "change-input" }>, looks = 1, last = NOTHING_PRESSED): void {
    const { oracle, plan, platform, scheduler, trace } = this.#world;
    const { person: wanted, proposal, size, token } = item;
    const called = oracle.approvals.newestOf(proposal);
    const place = plan.places.find(({ threadId }) => threadId === called?.threadId);
    const again = (press = last): void => {
      if (looks >= MOST_FORM_LOOKS) return;
      scheduler.after(LOOK_EVERY_MS, () => this.changeInput(item, looks + 1, press));
    };
    if (called === undefined || place === undefined) return again();
    const { effect } = called.call;
    const seen = platform.visible(place.threadId);
    const form = findButton(seen, effect, [], isForm);
    const isChosen = new RegExp(`\\bSize ${size}\\b`).test(form?.text.replaceAll(/[\s:]+/g, " ") ?? "");
    const labels = isChosen ? ["Send"] : [size, "Size", "Change"];
    const shown =
      form?.hasButtons === true
        ? findButton(seen, effect, labels, isForm)
        : findButton(seen, effect, ["Edit", "More"]);
    const pressed = shown?.button;
    const isAgain = pressed?.label === last.label && looks < last.look + PATIENT_LOOKS;
    if (pressed === undefined || isAgain) return again();
    const { label, token: data } = pressed;
    const person = place.isDirectMessage ? "7" : wanted;
    const press = `${token}x${looks}`;
    trace.add("person", () => `${person} presses ${press}: ${label} of ${effect}`);
    oracle.presses.pressed(press, place.threadId, undefined, true);
    this.#people.tellPress(place, press, { data, messageId: String(shown?.id) }, person);
    if (label !== "Send") return again({ label, look: looks });
    oracle.approvals.sends(press, { effect, label, person, size });
    const decision = { kind: "decide", at: 0, proposal, token: `${press}y`, button: "Approve" } as const;
    const other = this.#random.chance(0.5) ? "7" : "8";
    scheduler.after(this.#random.int(0, 20_000), () => this.decide({ ...decision, person: other }));
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

/** The size that a card asks about. */
function sizeIn(text: string): Size | undefined {
  const [, found] = /\beffect\d+ happen, (\w+)/.exec(text) ?? [];
  return (Object.keys(WORTH) as Size[]).find((size) => size === found);
}

interface Seen {
  readonly id: number;
  readonly text: string;
  readonly buttons?: readonly (readonly OutgoingButton[])[] | undefined;
}

/** A card as a person sees it: its text, whether it has buttons, and the first of those that are wanted. */
interface SeenCard extends Pick<Seen, "id" | "text"> {
  readonly hasButtons: boolean;
  readonly button: Extract<OutgoingButton, { kind: "callback" }> | undefined;
}

/** Labels of which each card of an approval, and each form, has one. */
const OURS: ReadonlySet<string> = new Set(["Approve", "Send", "Not now"]);

/** Finds the newest card about an effect. The buttons of a card of several messages are at the last one. */
function findButton(
  messages: readonly Seen[],
  effect: string,
  labels: readonly string[],
  isMeant = (text: string): boolean => !isForm(text),
): SeenCard | undefined {
  const isAbout = new RegExp(`\\b${effect} happen\\b`);
  const head = messages.findLast(({ text }) => isAbout.test(text) && isMeant(text));
  if (head === undefined) return undefined;
  const below = messages.slice(messages.indexOf(head));
  const end = below.findIndex(
    ({ text }, index) => index > 0 && /\b(?:effect\d+|(?:work|task)\d+x\d+) happen\b/.test(text),
  );
  const parts = end === -1 ? below : below.slice(0, end);
  const last = parts.findIndex(({ buttons }) => buttons?.flat().some(({ label }) => OURS.has(label)));
  const part = parts[last];
  const text = parts
    .slice(0, Math.max(0, last) + 1)
    .map((one) => one.text)
    .join("\n");
  const buttons = part?.buttons?.flat() ?? [];
  const [button] = labels.flatMap((label) =>
    buttons.flatMap((one) => (one.kind === "callback" && one.label === label ? [one] : [])),
  );
  return { id: part?.id ?? head.id, text, hasButtons: part !== undefined, button };
}

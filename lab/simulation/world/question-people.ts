import type { QuestionItem } from "../plan/question-items.ts";
import type { CardUpdates } from "./card-people.ts";
import { QUESTION } from "../oracle/form-face.ts";
import type { World } from "./world.ts";

/** A person who wants to answer looks for a question this often. */
const MOST_LOOKS = 40;
const LOOK_EVERY_MS = 250;
const NOT_NOW = "Not now";
/** Buttons that lead nowhere new. */
const ASIDE = new Set([NOT_NOW, "Back", "Change"]);

/** People who press buttons of questions from inside actions, whether they were asked or not. */
export class QuestionPeople {
  readonly #world: World;
  readonly #people: Pick<CardUpdates, "tellPress">;

  constructor(world: World, people: Pick<CardUpdates, "tellPress">) {
    this.#world = world;
    this.#people = people;
  }

  /** A button of the newest question of an action, as the person sees it. Waits for one. */
  answer(item: Extract<QuestionItem, { kind: "answer" }>, looks = 1): void {
    const { oracle, plan, platform, scheduler, trace } = this.#world;
    const asking = oracle.questions.newestOf(item.questions);
    const place = plan.places.find(({ threadId }) => threadId === asking?.threadId);
    const isAbout = ({ text }: { readonly text: string }): boolean =>
      new RegExp(`\\bQuestion\\d about ${asking?.effect ?? "none"}\\b`).test(text);
    const shown = place && platform.visible(place.threadId).findLast(isAbout);
    const buttons = (shown?.buttons ?? []).flat().filter(({ kind }) => kind === "callback");
    const onward = buttons.filter(({ label }) => !ASIDE.has(label));
    const pressed =
      item.pick === -1
        ? buttons.find(({ label }) => label === NOT_NOW)
        : onward[item.pick % Math.max(1, onward.length)];
    if (place === undefined || shown === undefined || pressed?.kind !== "callback") {
      if (looks < MOST_LOOKS) scheduler.after(LOOK_EVERY_MS, () => this.answer(item, looks + 1));
      return;
    }
    const person = place.isDirectMessage ? (place.userId ?? "7") : item.person;
    const { label, token: data } = pressed;
    trace.add("person", () => `${person} presses ${item.token}: ${label} of ${shown.text}`);
    oracle.presses.pressed(item.token, place.threadId, undefined, true);
    const question = QUESTION.exec(shown.text)?.[0] ?? "";
    oracle.questions.pressed(item.token, { cardId: "", field: "", kind: "field", question }, label, person);
    this.#people.tellPress(place, item.token, { data, messageId: String(shown.id) }, person);
  }
}

import type { OutgoingButton } from "../../../src/core/chat/surface.ts";
import type { ChildItem } from "../plan/child-items.ts";
import type { CardUpdates } from "./card-people.ts";
import type { World } from "./world.ts";

/** A person who wants to press looks for a button this often. */
const MOST_LOOKS = 12;
const LOOK_EVERY_MS = 2_000;

/** People whom agents ask in the chat of the conversation that has called them. */
export class ChildPeople {
  readonly #world: World;
  readonly #people: Pick<CardUpdates, "tellPress">;

  constructor(world: World, people: Pick<CardUpdates, "tellPress">) {
    this.#world = world;
    this.#people = people;
  }

  press(item: Extract<ChildItem, { kind: "press-child" }>, looks = 1): void {
    const { oracle, plan, platform, scheduler, trace } = this.#world;
    const { button: label, child, token } = item;
    const task = oracle.children.newestOf(child);
    const place = plan.places.find(({ threadId }) => threadId === task?.threadId);
    const found = place && task && findButton(platform.visible(place.threadId), task.number, label);
    if (found === undefined || place === undefined) {
      if (looks < MOST_LOOKS) scheduler.after(LOOK_EVERY_MS, () => this.press(item, looks + 1));
      return;
    }
    const { effect, id, pressed } = found;
    const person = place.isDirectMessage ? "7" : item.person;
    trace.add("person", () => `${person} presses ${token}: ${label} of ${effect} in ${place.threadId}`);
    oracle.presses.pressed(token, place.threadId, undefined, true);
    oracle.children.pressed(token, { effect, label, person });
    this.#people.tellPress(place, token, { data: pressed.token, messageId: String(id) }, person);
  }
}

interface Seen {
  readonly id: number;
  readonly text: string;
  readonly buttons?: readonly (readonly OutgoingButton[])[] | undefined;
}

interface FoundButton {
  readonly id: number;
  readonly effect: string;
  readonly pressed: Extract<OutgoingButton, { kind: "callback" }>;
}

/** Finds the newest button about a task. The buttons of a question of several messages are at its last one. */
function findButton(messages: readonly Seen[], task: number, label: string): FoundButton | undefined {
  let effect: string | undefined;
  let found: FoundButton | undefined;
  for (const { buttons, id, text } of messages) {
    const [named] = new RegExp(`\\btask${task}x\\d+\\b`).exec(text) ?? [];
    if (named !== undefined) effect = named;
    else if (/\b(?:work|effect|task)\d/.test(text)) effect = undefined;
    const pressed = buttons?.flat().find((one) => one.kind === "callback" && one.label === label);
    if (effect !== undefined && pressed?.kind === "callback") found = { id, effect, pressed };
  }
  return found;
}

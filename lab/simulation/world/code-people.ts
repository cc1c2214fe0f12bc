import type { OutgoingButton } from "../../../src/core/chat/surface.ts";
import type { CodeItem } from "../plan/code-items.ts";
import type { Place } from "../plan/plan.ts";
import type { CardUpdates } from "./card-people.ts";
import { turnOf } from "../oracle/check-code.ts";
import type { World } from "./world.ts";

type PlannedPress = Extract<CodeItem, { kind: "press-code" }>;

/** A person who wants to press looks for a button this often. */
const MOST_LOOKS = 12;
const LOOK_EVERY_MS = 2_000;

interface CodeUpdates extends Pick<CardUpdates, "tellPress"> {
  readonly write: (place: Place, token: string, userId: string) => void;
}

/** People who decide about calls of code, and undo them. */
export class CodePeople {
  readonly #world: World;
  readonly #people: CodeUpdates;

  constructor(world: World, people: CodeUpdates) {
    this.#world = world;
    this.#people = people;
  }

  /** @param place in which the person writes */
  act(item: Extract<CodeItem, { at: number }>, place: Place | undefined): void {
    if (item.kind === "press-code") this.#press(item);
    else if (item.kind === "roll-back") this.#rollBack(item);
    else if (place !== undefined) this.#askToUndo(item, place);
  }

  #askToUndo({ person, token }: Extract<CodeItem, { kind: "undo-words" }>, place: Place): void {
    const { isDirectMessage, userId = "7" } = place;
    const author = isDirectMessage ? userId : person;
    this.#world.oracle.code.asksToUndo(author);
    this.#people.write(place, token, author);
  }

  #press(item: PlannedPress, looks = 1): void {
    const { oracle, plan, platform, scheduler, trace } = this.#world;
    const { button: label, code, token } = item;
    const run = oracle.code.newestOf(code);
    const place = plan.places.find(({ threadId }) => threadId === run?.threadId);
    const found = place && run && findButton(platform.visible(place.threadId), run.turn, label);
    if (found === undefined || place === undefined || run === undefined) {
      if (looks < MOST_LOOKS) scheduler.after(LOOK_EVERY_MS, () => this.#press(item, looks + 1));
      return;
    }
    const { effects, id, pressed } = found;
    const person = place.isDirectMessage ? "7" : item.person;
    trace.add(
      "person",
      () => `${person} presses ${token}: ${label} of ${effects.join()} in ${place.threadId}`,
    );
    oracle.presses.pressed(token, place.threadId, undefined, true);
    oracle.code.pressed(token, { turn: run.turn, effects, effect: effects[0], label, person });
    this.#people.tellPress(place, token, { data: pressed.token, messageId: String(id) }, person);
  }

  /** The bot's own code undoes a run of code, if it has ended. */
  #rollBack({ code }: Extract<CodeItem, { kind: "roll-back" }>): void {
    const { oracle, plan, trace } = this.#world;
    const run = oracle.code.newestOf(code);
    const place = plan.places.find(({ threadId }) => threadId === run?.threadId);
    if (run === undefined || place === undefined || this.#world.isDown) return;
    const thread = this.#world.thread(place);
    const ended = thread
      .codeRuns()
      .find(({ code: text, endedAt }) => endedAt !== null && turnOf(text) === run.turn);
    if (ended === undefined) return;
    const { id: executionId } = ended;
    trace.add("bot", () => `rolls ${executionId} back`);
    oracle.code.rollsBack(run);
    void thread.rollBack(executionId).catch(() => undefined);
  }
}

interface Seen {
  readonly id: number;
  readonly text: string;
  readonly buttons?: readonly (readonly OutgoingButton[])[] | undefined;
}

/** Finds the newest button about a run of code, and the effects that its card names. */
function findButton(
  messages: readonly Seen[],
  turn: number,
  label: string,
):
  | {
      readonly id: number;
      readonly effects: readonly string[];
      readonly pressed: Extract<OutgoingButton, { kind: "callback" }>;
    }
  | undefined {
  // The buttons of a card of several messages are at its last one.
  let effects: string[] = [];
  let found: ReturnType<typeof findButton>;
  for (const { buttons, id, text } of messages) {
    const named = text.match(new RegExp(`\\bwork${turn}x\\d+ happen\\b`, "g"));
    if (named !== null) effects = named.map((words) => words.split(" ")[0] ?? "");
    else if (/\b(?:work|effect|task)\d/.test(text)) effects = [];
    const pressed = buttons?.flat().find((one) => one.kind === "callback" && one.label === label);
    if (effects.length > 0 && pressed?.kind === "callback") found = { id, effects, pressed };
  }
  return found;
}

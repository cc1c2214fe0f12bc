import { alert } from "../../core/card-press.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Say, TextName } from "../../core/bot-texts.ts";
import type { CardContent } from "../../core/content.ts";
import { decidedCard, mayManageTask, taskPressSchema } from "./owner-card.ts";
import type { Schedules } from "../runs/schedules.ts";
import { OWNER_CARD } from "./schedule-news.ts";

export interface OwnerPressesOptions {
  readonly schedules: Pick<Schedules, "tasks" | "runNow">;
  /** Resolves when the tasks are known. */
  readonly ready: () => Promise<void>;
  readonly say: (language: string | undefined) => Say;
  readonly revise: (id: string, content: CardContent) => void;
  /** Ends the turns of a task, also those to come, and takes back what they have asked people. May be called again. */
  readonly endRuns: (task: string) => Promise<void>;
}

/** Presses of the cards that tell the owner of a declared task that it was paused. */
export class OwnerPresses {
  readonly #options: OwnerPressesOptions;

  constructor(options: OwnerPressesOptions) {
    this.#options = options;
  }

  /** Takes a press of such a card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return press.cardId.startsWith(OWNER_CARD) ? this.#press(press) : undefined;
  }

  async #press({ cardId, chat, payload, person }: CardPress): Promise<PressAnswer> {
    const { endRuns, ready, revise, schedules } = this.#options;
    const say = this.#options.say(person?.language);
    const refused = (name: TextName): PressAnswer => alert(say(name));
    if (person === undefined) return refused("pressAnonymous");
    await ready();
    const parsed = taskPressSchema.safeParse(payload);
    const id = parsed.data?.task ?? "";
    const task = schedules.tasks.get(id);
    if (!parsed.success || task === undefined) return refused("taskUnknown");
    if (!mayManageTask(task, chat, person)) return refused("taskNotYours");
    if (!schedules.tasks.isPaused(id)) return refused("taskNotPaused");
    const { do: action } = parsed.data;
    if (action === "delete") {
      await endRuns(id);
      // Somebody may have resumed the task meanwhile.
      if (!schedules.tasks.isPaused(id)) return refused("taskNotPaused");
    }
    schedules.tasks.pause(id, action === "delete");
    if (action === "run") schedules.runNow(id);
    const { fullName, userId, userName } = person;
    revise(cardId, decidedCard(id, action, fullName ?? userName ?? userId, say));
    return say(action === "delete" ? "taskStaysStopped" : "scheduleResumed");
  }
}

import { sayTo, type TextName } from "../../core/text/bot-texts.ts";
import { alert, type CardPress, type PressAnswer } from "../../core/chat/card-press.ts";
import { decidedCard, mayManageTask, taskPressSchema } from "./owner-card.ts";
import type { Schedules } from "../runs/schedules.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";
import { OWNER_CARD } from "./schedule-news.ts";

/** The tasks of the object, as presses change them. */
export interface OwnedTasks {
  readonly schedules: Pick<Schedules, "tasks" | "runNow">;
  /** Resolves when the tasks are known. */
  start(): Promise<void>;
  /** Ends the turns of a task, also those to come, and takes back what they have asked people. May be called again. */
  endRuns(task: string): Promise<void>;
}

/** Presses of the cards that tell the owner of a declared task that it was paused. */
export class OwnerPresses {
  readonly #host: Pick<SchedulesObject, "agent" | "thread">;
  readonly #owned: OwnedTasks;

  constructor(host: Pick<SchedulesObject, "agent" | "thread">, owned: OwnedTasks) {
    this.#host = host;
    this.#owned = owned;
  }

  /** Takes a press of such a card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return press.cardId.startsWith(OWNER_CARD) ? this.#press(press) : undefined;
  }

  async #press({ cardId, chat, payload, person }: CardPress): Promise<PressAnswer> {
    const { schedules } = this.#owned;
    const say = sayTo(this.#host.agent, person);
    const refused = (name: TextName): PressAnswer => alert(say(name));
    if (person === undefined) return refused("pressAnonymous");
    await this.#owned.start();
    const parsed = taskPressSchema.safeParse(payload);
    const id = parsed.data?.task ?? "";
    const task = schedules.tasks.get(id);
    if (!parsed.success || task === undefined) return refused("taskUnknown");
    if (!mayManageTask(task, chat, person)) return refused("taskNotYours");
    if (!schedules.tasks.isPaused(id)) return refused("taskNotPaused");
    const { do: action } = parsed.data;
    if (action === "delete") {
      await this.#owned.endRuns(id);
      // Somebody may have resumed the task meanwhile.
      if (!schedules.tasks.isPaused(id)) return refused("taskNotPaused");
    }
    schedules.tasks.pause(id, action === "delete");
    if (action === "run") schedules.runNow(id);
    const { fullName, userId, userName } = person;
    this.#host.thread.cards.revise(cardId, decidedCard(id, action, fullName ?? userName ?? userId, say));
    return say(action === "delete" ? "taskStaysStopped" : "scheduleResumed");
  }
}

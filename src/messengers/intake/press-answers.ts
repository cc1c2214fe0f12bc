import type { Clock, Timer } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { ActionNotice } from "../../core/surface.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";

/** Shows the answer to the person. @throws {Error} if a message with it cannot be stored */
type Show = (notice: ActionNotice | undefined) => Promise<void>;

interface OpenPress {
  readonly event: MessengerEvent;
  readonly show: Show;
  timer: Timer;
  /** The answer that was given. */
  shown?: Promise<void>;
}

/**
 * A press is acknowledged after this time, even if nothing is decided about it. Clients show for about 15 s that they
 * wait.
 */
const ANSWER_WITHIN_MS = 10_000;

/** Answers presses: each once in a process, and with nothing after 10 s, whatever the bot's code does meanwhile. */
export class PressAnswers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open = new Map<number, OpenPress>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Starts the time of a press. Does nothing for a press that is taken up again after a failure. */
  begin(row: InboxRow, event: MessengerEvent, show: Show): void {
    if (this.#open.has(row.seq)) return;
    const press: OpenPress = { event, show, timer: undefined };
    this.#open.set(row.seq, press);
    // A person who wrote a number does not wait for a button.
    if (event.action === undefined) return;
    press.timer = this.#clock.setTimeout(() => void this.give(row, undefined), ANSWER_WITHIN_MS);
  }

  /** Gives the answer, unless there was one before. Returns when the answer is shown, or has failed. Never throws. */
  async give(row: InboxRow, notice: ActionNotice | undefined): Promise<void> {
    const press = this.#open.get(row.seq);
    if (press === undefined) return;
    if (press.shown === undefined) {
      this.#clock.clearTimeout(press.timer);
      press.shown = this.#show(press, notice);
    } else if (notice !== undefined) {
      this.#log.info("press.answer-too-late", eventFields(press.event.messengerId, press.event));
    }
    await press.shown;
  }

  async #show({ event, show }: OpenPress, notice: ActionNotice | undefined): Promise<void> {
    try {
      await show(notice);
    } catch (error) {
      const fields = eventFields(event.messengerId, event);
      this.#log.warn("press.not-answered", { ...fields, code: failureCode(error) });
    }
  }

  /** Forgets a press that has ended. One that is not answered yet is acknowledged. */
  end(row: InboxRow): void {
    void this.give(row, undefined);
    this.#open.delete(row.seq);
  }
}

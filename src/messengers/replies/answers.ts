import type { MessengerEvent } from "../../core/messenger-event.ts";

/** What the intake asks of the answers of its conversation: of the one that runs, and of the last one. */
export interface Answers {
  /** Returns whether `rerun` would do something. */
  mayRerun(edit: MessengerEvent): boolean;
  /** Answers the last answered message anew, if the edit is of it and the messenger wants that. */
  rerun(edit: MessengerEvent): boolean;
  /** Keeps an edit that has nothing answered anew now, in case another one does. */
  keepEdit(edit: MessengerEvent): void;
  /** Ends the answer whose stop button was pressed. Returns false if it has ended already. */
  stopDraft(press: MessengerEvent): boolean;
}

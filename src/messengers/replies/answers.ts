import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { CommandHost } from "../declare/commands.ts";

/** The answers of a conversation, as the intake uses them: the running one and the last one. */
export interface Answers extends CommandHost {
  /** Returns whether `rerun` would do something. */
  mayRerun(edit: MessengerEvent): boolean;
  /** Answers the last answered message again, if the edit changes it and the messenger wants that. */
  rerun(edit: MessengerEvent): boolean;
  /** Keeps an edit that has no effect now, in case a later edit starts the answer over. */
  keepEdit(edit: MessengerEvent): void;
  /** Ends the answer whose stop button was pressed. Returns false if it has ended already. */
  stopDraft(press: MessengerEvent): boolean;
}

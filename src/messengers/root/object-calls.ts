import type { CallGroup } from "../../core/chat/inner-calls.ts";

/** The calls of a bot to an object that it makes of another class. */
export interface ObjectCalls {
  /**
   * Makes it an object of the bot whose root has this class: its chats have their gates and their rate there.
   *
   * Returns `false` if its class does not declare the messenger whose events come to it.
   */
  belongTo(rootClass: string, messengerId?: string): Promise<boolean>;
}

export const OBJECT: CallGroup<ObjectCalls> = { name: "object" };

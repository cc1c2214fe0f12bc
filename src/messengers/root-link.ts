import type { Budget } from "../core/budget.ts";
import type { BotIdentity } from "../core/messenger.ts";

/** What a conversation's object asks its root for. Both methods cross to another object when it is not the root. */
export interface RootLink {
  readonly budget: Budget;
  identity(messengerId: string): Promise<BotIdentity>;
}

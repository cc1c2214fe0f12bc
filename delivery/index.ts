/** The delivery engine of a thread and the budget of its chats: the whole face of this folder. */
export { createBudget } from "./budget.ts";
export type { BudgetOptions } from "./budget.ts";
export { createDelivery } from "./engine.ts";
export type { DeliveryOptions } from "./engine.ts";

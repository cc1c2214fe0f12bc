/** The delivery engine of a conversation, the gate of a chat and the budget of a bot: the whole face of this folder. */
export { RootBudget } from "./budget/bot-budget.ts";
export { createChatGate } from "./budget/chat-gate.ts";
export { draftIdOf } from "./modes/draft-id.ts";
export { createBotFileIds } from "./files/bot-file-ids.ts";
export type { BotFileIds, SentFile } from "./files/sent-file.ts";
export { mediaTypeOf } from "./files/file-facts.ts";
export { createDelivery } from "./engine.ts";
export type { DeliveryOptions } from "./delivery-options.ts";
export { plainText } from "./text/render/index.ts";
export { splitText } from "./text/split/index.ts";

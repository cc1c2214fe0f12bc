/** Tests for bots: a bot in workerd, with a simulated Telegram and a scripted model. */
import "./cloudflare-modules.ts";

// The bot
export { testBot } from "./start-test-bot.ts";
export type { TestBotOptions } from "./start-test-bot.ts";
export { TestBot, TestChat } from "./test-bot.ts";
export type { WaitOptions } from "./test-bot.ts";

// The scripted model
export { lastUserText, startScriptedModel } from "../lab/support/scripted-model.ts";
export type { ModelScript, ScriptedModel } from "../lab/support/scripted-model.ts";
export {
  callTool,
  cutConnection,
  errorInStream,
  failWith,
  finishWith,
  holdAt,
  reportUsage,
  say as answer,
  stall,
  think,
  waitFor,
} from "../lab/support/model-script.ts";
export type { ModelStep } from "../lab/support/model-script.ts";
export type { ModelRequest } from "../lab/support/model-request.ts";
export { createGate } from "../lab/support/gate.ts";
export type { Gate } from "../lab/support/gate.ts";

// The simulated Telegram
export { realFloodRules, startSimulator } from "../playground/telegram/simulator.ts";
export type {
  ApiCall,
  AttachmentOptions,
  CallFilter,
  DocumentOptions,
  FaultRule,
  SimChat,
  Simulator,
  SimulatorOptions,
  VisibleButton,
  VisibleMessage,
} from "../playground/telegram/simulator.ts";

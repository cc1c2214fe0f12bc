import type { BotTexts } from "../core/bot-texts.ts";
import type { BotAnswer } from "../core/question.ts";
import type { FeatureHost } from "../feature/feature-host.ts";

/** The methods of the bot's class that are about questions. */
export interface QuestionMethods {
  readonly texts?: BotTexts;
  getDefaultTimezone(): string | undefined;
  onAnswer?(answer: BotAnswer): void | Promise<void>;
}

/** An object of the bot, as its questions use it. */
export type QuestionsHost = FeatureHost<QuestionMethods>;

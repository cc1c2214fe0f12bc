import type { FlexibleSchema } from "ai";
import type { BotTexts } from "../core/text/bot-texts.ts";
import type { BotAnswer } from "../core/chat/question.ts";
import type { FeatureHost } from "../feature/feature-host.ts";

/**
 * The schemas of questions of the bot's own code, by name: zod, another Standard Schema that has a JSON Schema, or
 * `jsonSchema` of the AI SDK.
 */
export type ThinkQuestions = Readonly<Record<string, FlexibleSchema>>;

/** The methods of the bot's class that are about questions. */
export interface QuestionMethods {
  readonly texts?: BotTexts;
  getDefaultTimezone(): string | undefined;
  getQuestions(): ThinkQuestions;
  onAnswer?(answer: BotAnswer): void | Promise<void>;
}

/** An object of the bot, as its questions use it. */
export type QuestionsHost = FeatureHost<QuestionMethods>;

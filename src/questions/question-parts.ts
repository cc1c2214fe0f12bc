import type { ParkedCalls } from "../replay/parked-calls.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import type { QuestionCards } from "./question-cards.ts";
import type { Questions } from "./questions.ts";

/** The questions of a conversation, with their cards and the calls that wait for answers. */
export interface QuestionParts {
  readonly host: QuestionsHost;
  readonly questions: Questions;
  readonly parked: ParkedCalls;
  readonly cards: QuestionCards;
}

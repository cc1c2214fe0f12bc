import { ConfigurationError } from "../../core/base/errors.ts";
import type { AskedQuestion, BotQuestion } from "../../core/chat/question.ts";
import { optionProblem } from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";

const HOUR_MS = 60 * 60 * 1000;
/** A card can be changed for 90 days. The last one is for showing the answer. */
const LONGEST_WAIT_MS = 89 * 24 * HOUR_MS;
const LONGEST_MESSAGE = 2_000;
const MOST_OPTIONS = 50;
const LONGEST_LABEL = 64;

/** Time to answer a question, unless it says otherwise, in milliseconds. */
export const DEFAULT_ANSWER_MS = HOUR_MS;

const QUESTION: OptionRules<AskedQuestion> = {
  message: true,
  of: true,
  expiresAfterMs: true,
  remindAfterMs: true,
  sensitive: true,
  kind: true,
  schema: true,
  labels: true,
  problem: true,
  earlier: true,
};

/** @throws {ConfigurationError} `question-invalid` for an option, a message or a time that no question can have */
export function checkQuestion(question: AskedQuestion | Omit<BotQuestion, "name">): void {
  const problem = optionProblem(question, QUESTION, { owner: "the question" });
  if (problem !== undefined) throw invalid(problem);
  const { expiresAfterMs, message, remindAfterMs } = question;
  if (typeof message !== "string" || message.trim() === "" || message.length > LONGEST_MESSAGE)
    throw invalid(`The message of a question must be a text of 1 to ${LONGEST_MESSAGE} characters.`);
  for (const [name, value] of Object.entries({ expiresAfterMs, remindAfterMs })) {
    if (value === undefined || value === false) continue;
    if (!(typeof value === "number" && value > 0 && value <= LONGEST_WAIT_MS))
      throw invalid(`${name} of a question must be 1 to ${LONGEST_WAIT_MS} milliseconds (89 days).`);
  }
}

/** @throws {ConfigurationError} `question-invalid` for options that cannot be buttons */
export function checkOptions(options: readonly { readonly value: string; readonly label: string }[]): void {
  if (options.length === 0 || options.length > MOST_OPTIONS)
    throw invalid(`A question must have 1 to ${MOST_OPTIONS} options, not ${options.length}.`);
  for (const { label } of options) {
    if (typeof label === "string" && label.trim() !== "" && label.length <= LONGEST_LABEL) continue;
    throw invalid(`The label of an option must be a text of 1 to ${LONGEST_LABEL} characters.`);
  }
  if (new Set(options.map(({ value }) => value)).size < options.length)
    throw invalid("Two options of a question have the same value. Give each its own.");
}

function invalid(problem: string): ConfigurationError {
  return new ConfigurationError("question-invalid", `A question cannot be asked like this. ${problem}`);
}

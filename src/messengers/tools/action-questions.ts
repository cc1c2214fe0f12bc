import type { ActionRequest, AskingRun, EarlierRun, PreparedQuestion } from "../../actions/action-host.ts";
import type { AskedQuestion, Unanswered } from "../../core/question.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { CallFacts } from "./action-rights.ts";

/** Questions to people from inside actions. Without it no action of a bot can ask. */
export interface ActionQuestions {
  /**
   * See `ActionHost.earlier`.
   *
   * @param isOutside whether the call runs outside of its turn, after somebody has agreed or answered
   */
  earlier(request: ActionRequest, isOutside: boolean): EarlierRun | undefined;
  /** See `CallQuestions.prepare`. */
  prepare(run: AskingRun, facts: CallFacts, question: AskedQuestion): Promise<Unanswered | PreparedQuestion>;
  /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
}

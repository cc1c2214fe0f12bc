import type { ActionRequest, AskingRun, EarlierRun, PreparedQuestion } from "../../actions/action-host.ts";
import type { AskedQuestion, Unanswered } from "../../core/question.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { CallFacts } from "./action-rights.ts";

/** For whom and where a run asks. */
export interface AskingPlace {
  readonly facts: CallFacts;
  /** The reply that shows what the run attaches. */
  readonly owner: string;
}

/** Questions to people from inside actions. Without it no action of a bot can ask. */
export interface ActionQuestions {
  /**
   * See `ActionHost.earlier`.
   *
   * @param isAnswered whether the call goes on with an answer
   */
  earlier(request: ActionRequest, isAnswered: boolean): EarlierRun | undefined;
  /** See `CallQuestions.prepare`. */
  prepare(
    run: AskingRun,
    place: AskingPlace,
    question: AskedQuestion,
  ): Promise<Unanswered | PreparedQuestion>;
  /** Whether a call of the turn has ever asked somebody. */
  hasAsked(turnId: string): boolean;
  /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
}

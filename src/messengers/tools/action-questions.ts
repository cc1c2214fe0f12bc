import type {
  ActionRequest,
  AskingRun,
  EarlierRun,
  PreparedQuestion,
} from "../../actions/runs/action-host.ts";
import type { Json } from "../../core/message/content.ts";
import type { AskedQuestion, Unanswered } from "../../core/chat/question.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { AskedCall, SystemCaller } from "./action-consent.ts";
import type { OutsideAsker } from "./outside-asker.ts";
import type { CallFacts } from "./action-rights.ts";

/** For whom and where a run asks. */
export interface AskingPlace {
  readonly facts: CallFacts;
  /** The reply that shows what the run attaches. */
  readonly owner: string;
  /** Set if another system calls. */
  readonly outside?: OutsideAsker | undefined;
}

/** Questions to people from inside actions. Without it no action of a bot can ask. */
export interface ActionQuestions {
  /**
   * See `ActionHost.earlier`.
   *
   * @param isAnswered whether the call goes on with an answer
   */
  earlier(
    request: Pick<ActionRequest, "requestId" | "toolCallId">,
    isAnswered: boolean,
  ): EarlierRun | undefined;
  /** See `CallQuestions.prepare`. */
  prepare(
    run: AskingRun,
    place: AskingPlace,
    question: AskedQuestion,
  ): Promise<Unanswered | PreparedQuestion>;
  /** See `CallQuestions.accept`. */
  accept(ledgerKey: string, position: number): void;
  /** Whether a call of the turn has ever asked somebody. */
  hasAsked(turnId: string): boolean;
  /** Returns the state of a call of another system that has asked. Undefined if it is not kept any more. */
  stateOf(callId: string): AskedCall | undefined;
  /**
   * Takes what the person of a system has answered to one of its questions there. Anything that the form cannot read
   * changes nothing.
   *
   * @param content the values, as the system has sent them. Undefined: the person does not want to answer
   */
  answer(callId: string, questionId: string, content: Json | undefined, by: SystemCaller): Promise<void>;
  /** Ends the open question of a call without an answer. The call goes on. */
  decline(callId: string): Promise<void>;
  /** Returns for whom and where the calls of a turn about an outcome run. Undefined for other turns. */
  factsOfOutcome(turn: TurnInfo): CallFacts | undefined;
}

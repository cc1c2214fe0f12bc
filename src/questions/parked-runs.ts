import { isWaitingResult } from "../actions/declare/action-errors.ts";
import { logBotFailure } from "../core/time/bot-code.ts";
import { isCodeCall } from "../core/action/code-call.ts";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { isOutsideRequest } from "../core/action/outside-call.ts";
import { SCHEDULE_DELETED } from "../core/turn/scheduled-run.ts";
import type { Address } from "../core/chat/surface.ts";
import type { Clock } from "../core/base/deps.ts";
import { outcomeMessage } from "../messengers/turns/outcome-message.ts";
import { answeredOwner } from "../messengers/turns/turn-attachments.ts";
import type { ParkedCall } from "../replay/parked-call-store.ts";
import type { ParkedCallsHost } from "../replay/parked-calls.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { contextOf, factsOf } from "./call-context.ts";
import { isSensitive } from "./question.ts";
import type { QuestionStore } from "./question-store.ts";

/** Runs and tells parked calls. They have the rights that they had, checked again. */
export class ParkedRuns implements ParkedCallsHost {
  readonly database: Database;
  readonly clock: Clock;
  readonly #host: QuestionsHost;
  readonly #questions: Pick<QuestionStore, "ofCall">;

  constructor(host: QuestionsHost, questions: Pick<QuestionStore, "ofCall">) {
    this.database = host.database;
    this.clock = host.deps.clock;
    this.#host = host;
    this.#questions = questions;
  }

  async run(call: ParkedCall): Promise<Json | undefined> {
    const { action: name, id, input, inputHash, ledgerKey, requestId, toolCallId } = call;
    const { approver, outside, owner } = contextOf(call);
    const facts = factsOf(call);
    const consent = { approver, inputHash, ledgerKey };
    const again = { name, input, requestId, toolCallId, consent, facts, isAnswered: true };
    const { actions } = this.#host;
    // A call that was approved runs as approved calls do, and an agent's in its turn's place.
    if (outside === undefined || owner !== undefined || !isOutsideRequest(requestId)) {
      const shownIn = facts.address ?? this.#askedLast(id);
      const output = await actions.runConsented({ ...again, owner: owner ?? answeredOwner(id), shownIn });
      return isWaitingResult(output) ? undefined : output;
    }
    const { runProgress } = actions;
    const run = { owner: answeredOwner(id), requestId, address: this.#askedLast(id) };
    const onProgress = (line: string): void => runProgress.show(run, line);
    try {
      const output = await actions.runOutside({ ...again, ...outside, signal: undefined, onProgress });
      return isWaitingResult(output) ? undefined : (output as Json);
    } finally {
      // A process that died in an earlier run may have left a line.
      runProgress.end(run);
    }
  }

  /** The chat in which a person has answered last. Undefined if another agent has asked its person itself. */
  #askedLast(id: string): Address | undefined {
    const { by, askedIn = [] } = this.#questions.ofCall(id).at(-1) ?? {};
    return (askedIn.find(({ userId }) => userId === by?.userId) ?? askedIn[0])?.address;
  }

  /** Whoever had to agree to the call hears of its outcome, or else the conversation. */
  tell(call: ParkedCall, result: Json): void {
    const { action, id, input, requestId, toolCallId } = call;
    this.#eraseSecrets(call);
    const { features, messengers, thread } = this.#host;
    if (features.consent?.callEnded(requestId, toolCallId, result) === true) return;
    // The system that calls, or the run of the code, reads the outcome itself.
    if (isOutsideRequest(requestId) || isCodeCall(toolCallId)) return;
    const { channel, schedule } = contextOf(call);
    // Nobody reads the rest of a run that was ended for its keeper.
    const { runs } = this.#host;
    const isOver = (): boolean => runs.runs.problemOf(runs.rootOf(requestId)) === SCHEDULE_DELETED;
    if (schedule?.agent !== undefined && isOver()) return;
    const address = this.#toldIn(call);
    const isServed = address !== undefined && messengers.isDeclared(address.messengerId);
    const unseenTask =
      schedule !== undefined && schedule.agent === undefined && !isServed ? schedule.taskId : undefined;
    thread.own.submit({
      kind: "outcome",
      idempotencyKey: answeredOwner(id),
      messages: [outcomeMessage(id, { action, input, result, unseenTask })],
      answerTo: isServed ? [address] : [],
      metadata: { parkedCall: id },
      channel,
    });
  }

  /** The answer to an outcome is for the chat that has asked, and that of a schedule for its own chats. */
  #toldIn(call: ParkedCall): Address | undefined {
    const { address, schedule } = contextOf(call);
    if (schedule === undefined) return address;
    const { runs } = this.#host;
    return runs.runs.get(runs.rootOf(call.requestId))?.shownIn;
  }

  /** A call whose outcome is not known keeps its log, so that its key repeats no step. Sensitive answers are not for that. */
  #eraseSecrets({ id, ledgerKey }: ParkedCall): void {
    const { runLog } = this.#host.actions;
    if (!runLog.has(ledgerKey)) return;
    for (const { call, form } of this.#questions.ofCall(id))
      if (call !== undefined && isSensitive(form)) runLog.drop(ledgerKey, call.position);
  }

  onChange(): void {
    this.#host.wakeSoon();
  }

  onFailure(error: unknown): void {
    logBotFailure(this.#host.log, "question", error);
  }
}

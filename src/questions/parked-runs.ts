import { isWaitingResult } from "../actions/action-errors.ts";
import { logBotFailure } from "../core/bot-code.ts";
import type { Json } from "../core/content.ts";
import type { Database } from "../core/database.ts";
import type { Clock } from "../core/deps.ts";
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
    const { approver, owner = answeredOwner(id) } = contextOf(call);
    const output = await this.#host.actions.runConsented({
      name,
      input,
      requestId,
      toolCallId,
      consent: { approver, inputHash, ledgerKey },
      facts: factsOf(call),
      owner,
      isAnswered: true,
    });
    return isWaitingResult(output) ? undefined : output;
  }

  /** Whoever had to agree to the call hears of its outcome, or else the conversation. */
  tell(call: ParkedCall, result: Json): void {
    const { action, id, input, requestId, toolCallId } = call;
    this.#eraseSecrets(call);
    const { features, messengers, thread } = this.#host;
    if (features.consent?.callEnded(requestId, toolCallId, result) === true) return;
    const { address, channel } = contextOf(call);
    const isServed = address !== undefined && messengers.isDeclared(address.messengerId);
    thread.own.submit({
      kind: "outcome",
      idempotencyKey: answeredOwner(id),
      messages: [outcomeMessage(id, { action, input, result })],
      answerTo: isServed ? [address] : [],
      metadata: { parkedCall: id },
      channel,
    });
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

import type { Approval } from "../rules/approval.ts";
import { decisionWords } from "../rules/outcome-words.ts";
import type { Address } from "../../core/chat/surface.ts";
import { outcomeMessage } from "../../messengers/turns/outcome-message.ts";
import { outcomeKeyOf } from "./card-ids.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";

/** Tells the conversation the outcomes of approvals: each is a turn, whose answer is for the chat that asked. */
export class OutcomeTurns {
  readonly #host: Pick<ApprovalsHost, "thread" | "messengers" | "runs">;

  constructor(host: Pick<ApprovalsHost, "thread" | "messengers" | "runs">) {
    this.#host = host;
  }

  /** Stores the turn. Only inside a transaction. */
  tell(approval: Approval): void {
    const { action, channel, id, input, isExplained, outcome, schedule, state } = approval;
    const address = this.#toldIn(approval);
    const result = outcome ?? (state === "done" ? null : "The action did not run.");
    const isUnseen = schedule !== undefined && schedule.agent === undefined && address === undefined;
    this.#host.thread.own.submit({
      kind: "outcome",
      idempotencyKey: isExplained ? `${outcomeKeyOf(approval)}:reason` : outcomeKeyOf(approval),
      messages: [
        outcomeMessage(id, {
          action,
          input,
          decision: decisionWords(approval),
          result,
          ...(isUnseen && { unseenTask: schedule.taskId }),
        }),
      ],
      answerTo: address === undefined ? [] : [address],
      metadata: { approval: id },
      channel,
    });
  }

  /** Returns the chat that sees the answer to an outcome. */
  #toldIn(approval: Approval): Address | undefined {
    const { isExplained, rootRequest, schedule } = approval;
    // A chat that is gone is told when it is back.
    const asked = this.#addressOf(approval);
    if (schedule === undefined) return asked;
    const shownIn = this.#host.runs.runs.get(rootRequest)?.shownIn;
    if (shownIn !== undefined)
      return this.#host.messengers.isDeclared(shownIn.messengerId) ? shownIn : undefined;
    // The answer is for the chats of the schedule, unless it is over by now. That of an agent is for its caller only.
    return isExplained && schedule.agent === undefined ? asked : undefined;
  }

  /** Whether a question was asked in the chat of its schedule's owner, which never sees the conversation of the run. */
  isAskedForOthers(approval: Approval | undefined): boolean {
    if (approval?.schedule === undefined) return false;
    return this.#host.runs.runs.get(approval.rootRequest)?.shownIn?.threadId !== approval.origin?.threadId;
  }

  /** The chat of the turn that asked. Undefined if it had none, or the bot does not serve its messenger any more. */
  #addressOf({ origin }: Approval): Address | undefined {
    return origin === undefined || !this.#host.messengers.isDeclared(origin.messengerId) ? undefined : origin;
  }
}

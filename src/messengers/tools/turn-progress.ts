import type { Delivery } from "../../core/chat/delivery.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import { replyIdOf } from "../turns/turn-replies.ts";

/** Lines of progress of running calls, by turn. The newest one of a turn is in its replies. In memory only. */
export class TurnProgress {
  readonly #delivery: () => Pick<Delivery, "progress">;
  readonly #lines = new Map<string, Map<string, string>>();

  constructor(delivery: () => Pick<Delivery, "progress">) {
    this.#delivery = delivery;
  }

  /** Shows a line of a call, or takes it away. */
  show(turn: TurnInfo, toolCallId: string, line: string | undefined): void {
    const lines = this.#lines.get(turn.id) ?? new Map<string, string>();
    lines.delete(toolCallId);
    if (line !== undefined) lines.set(toolCallId, line);
    if (lines.size > 0) this.#lines.set(turn.id, lines);
    else this.#lines.delete(turn.id);
    for (const replyId of repliesOf(turn)) this.#delivery().progress(replyId, [...lines.values()].at(-1));
  }
}

function repliesOf({ answerTo, id, kind }: TurnInfo): readonly string[] {
  return kind === "messages" ? [id] : answerTo.map((_, index) => replyIdOf(id, index));
}

import { outsideRequest } from "../core/action/outside-call.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { approvedOwner } from "../messengers/turns/turn-attachments.ts";
import { attachedContent } from "./attached-content.ts";
import type { CallStore } from "./call-store.ts";
import type { CallAnswer, CallTask, ToolResult } from "./mcp-calls.ts";

/** Adds what actions have attached to the results of calls. A call that is answered again has the same. */
export class AttachedResults {
  readonly #host: Pick<FeatureHost<unknown>, "thread">;
  readonly #store: Pick<CallStore, "get">;

  constructor(host: Pick<FeatureHost<unknown>, "thread">, store: Pick<CallStore, "get">) {
    this.#host = host;
    this.#store = store;
  }

  async answer(answer: CallAnswer): Promise<CallAnswer> {
    if (answer.kind === "task") return { ...answer, task: await this.task(answer.task) };
    if (answer.kind !== "result") return answer;
    return { ...answer, result: await this.#result(answer.callId, answer.result) };
  }

  async task(task: CallTask): Promise<CallTask> {
    const { id, result } = task;
    return result === undefined ? task : { ...task, result: await this.#result(id, result) };
  }

  async #result(callId: string, result: ToolResult): Promise<ToolResult> {
    const row = result.isError === true ? undefined : this.#store.get(callId);
    if (row === undefined) return result;
    const { attachments, delivery } = this.#host.thread;
    const { approvalId } = row;
    const owners = [outsideRequest(callId), ...(approvalId === undefined ? [] : [approvedOwner(approvalId)])];
    const attached = attachments.recorded.of(owners);
    if (attached.length === 0) return result;
    const content = await attachedContent(callId, attached, delivery.heldFiles);
    return { ...result, content: [...result.content, ...content] };
  }
}

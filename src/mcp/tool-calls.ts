import { z } from "zod";
import { isWaitingResult } from "../actions/declare/action-errors.ts";
import type { ActionFailure } from "../actions/declare/action-errors.ts";
import { KEEP_SETTLED_MS } from "../actions/ledger/ledger.ts";
import { DEFAULT_TIMEOUT_MS } from "../actions/runs/run-action.ts";
import { canonicalJson } from "../core/json/canonical-json.ts";
import { DAY_MS } from "../core/time/civil-time.ts";
import type { Json } from "../core/message/content.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import { wait } from "../core/base/deps.ts";
import { outsideRequest } from "../core/action/outside-call.ts";
import { sha256 } from "../core/bytes/sha256.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { threadOf } from "../messengers/tools/call-facts.ts";
import { answeredOwner, approvedOwner } from "../messengers/turns/turn-attachments.ts";
import { AttachedResults } from "./attached-results.ts";
import type { AskedCall, SystemCaller } from "../messengers/tools/action-consent.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { CallStore } from "./call-store.ts";
import type { CallRow } from "./call-store.ts";
import { taskOf } from "./call-task.ts";
import type { CallAnswer, CallProgress, CallTask, ClientAnswer, ToolCall, ToolResult } from "./mcp-calls.ts";
import { outputSchemaOf } from "./output-schema.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import { LONGEST_WAIT_MS, RunningCalls } from "./running-calls.ts";
import type { McpCaller } from "./token.ts";
import type { McpTool } from "./tool-list.ts";
import { failureResult, resultOf } from "./tool-result.ts";

export interface ToolCallsOptions {
  readonly host: FeatureHost<unknown>;
  readonly owner: McpServerOptions["owner"];
}

const consentSchema = z.object({ approve: z.boolean() });
const LOOK_EVERY_MS = 50;
/** The ledger sweeps results after `KEEP_SETTLED_MS`. A client that sends a request again then must not find an empty place. */
const RESULTS_KEPT_MS = KEEP_SETTLED_MS - DAY_MS;
/** Ids of this length are of no counter, so the client never uses one for two calls. */
const LASTING_ID = 16;

/**
 * The calls of tools by one token, in its conversation.
 *
 * 1. A call is stored before its action runs, and the action runs under the call's id. A request that is sent again finds
 *    the call, so it joins the run, reads its result from the ledger, or learns that its outcome is not known.
 * 2. Clients count the ids of their requests from 0 in each process. So an id names its call only until the client has
 *    got the answer. An idempotency key, or a long id, names it for as long as the call is kept.
 * 3. Every call goes through the actions' one seam. A call that waits for people is a task, whose state is that of the
 *    question. A run that takes long becomes one, too.
 */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #store: CallStore;
  readonly #running: RunningCalls;
  readonly #attached: AttachedResults;
  /** Requests that wait for an answer. */
  #atOnce = 0;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    const { host } = options;
    this.#store = new CallStore(host.database, host.deps.clock);
    this.#running = new RunningCalls({ host, store: this.#store });
    this.#attached = new AttachedResults(host, this.#store);
  }

  /** Runs a call, or continues one that is known. */
  async call(caller: McpCaller, call: ToolCall, tool: McpTool): Promise<CallAnswer> {
    const { deps, log } = this.#options.host;
    const begunAt = deps.clock.now();
    if (Math.max(this.#atOnce, this.#running.count) >= caller.atOnce) return failed("", TOO_MANY);
    this.#atOnce += 1;
    let outcome = "failed";
    try {
      const answer = await this.#attached.answer(await this.#answerOf(caller, call, tool));
      outcome = answer.kind === "result" && answer.result.isError === true ? "refused" : answer.kind;
      return answer;
    } finally {
      this.#atOnce -= 1;
      const durationMs = deps.clock.now() - begunAt;
      log.info("mcp.called", { token: caller.tokenId, action: tool.actionName, outcome, durationMs });
    }
  }

  async noteAnswered(id: string): Promise<void> {
    this.#store.change(id, { isAnswered: true });
  }

  /** Whether an action runs. Its client may have been told to come back. */
  isBusy(): boolean {
    return this.#running.count > 0;
  }

  /** Returns a call that waits for people or takes long, or did. */
  async readTask(id: string): Promise<CallTask | undefined> {
    const row = this.#store.get(id);
    if (row === undefined) return undefined;
    const action = this.#options.host.actions.named(row.action);
    const hasSchema = action !== undefined && (await outputSchemaOf(action)) !== undefined;
    const task = hasAsked(row)
      ? { ...taskOf(row, this.#stateOf(row), hasSchema), progress: this.#progressAfter(row) }
      : this.#running.task(row, hasSchema);
    return task && this.#attached.task(task);
  }

  async cancelCall(caller: McpCaller, id: string): Promise<void> {
    this.#running.stop(id);
    const row = this.#store.get(id);
    if (row === undefined) return;
    await this.#takeBack(row, systemCaller(caller, await this.factsOf(caller)));
  }

  /** A call that has begun goes on without an answer. */
  async #takeBack({ approvalId, parkedId }: CallRow, by: SystemCaller): Promise<void> {
    const { asking, consent } = this.#options.host.features;
    if (approvalId !== undefined) await consent?.answer(approvalId, "withdraw", by);
    if (parkedId !== undefined) await asking?.decline(parkedId);
  }

  async readProgress(requestId: string | number): Promise<CallProgress | undefined> {
    return this.#running.progressOf(requestId);
  }

  async cancelRequest(requestId: string | number): Promise<void> {
    this.#running.stopRequest(requestId);
  }

  /** Stops what runs, and takes back what people were asked: the token is not valid any more. */
  async endCalls(tokenName: string): Promise<void> {
    this.#running.stopAll();
    const by = { name: tokenName, person: undefined, messengerId: undefined };
    for (const row of this.#store.asked()) await this.#takeBack(row, by);
  }

  async #answerOf(caller: McpCaller, call: ToolCall, tool: McpTool): Promise<CallAnswer> {
    const inputHash = await sha256(canonicalJson(call.input));
    const isSame = (row: CallRow | undefined): row is CallRow =>
      row?.action === tool.actionName && row.inputHash === inputHash;
    if (call.resumes !== undefined) {
      const asked = this.#store.get(call.resumes.callId);
      return isSame(asked) && hasAsked(asked)
        ? this.#resume(caller, asked, call, tool)
        : failed("", QUESTION_GONE);
    }
    const retryKey = retryKeyOf(call);
    const known = this.#store.ofRetry(retryKey.key);
    if (isSame(known) && (retryKey.isLasting || !known.isAnswered))
      return this.#again(caller, known, call, tool);
    if (known !== undefined && call.idempotencyKey !== undefined) return failed(known.id, KEY_CONFLICT);
    const { deps } = this.#options.host;
    const row: CallRow = {
      id: deps.newId(),
      retryKey: retryKey.key,
      action: tool.actionName,
      inputHash,
      approvalId: undefined,
      isAnswered: false,
      createdAt: deps.clock.now(),
      isLong: false,
      endedAt: undefined,
      output: undefined,
      parkedId: undefined,
    };
    this.#store.insert(row);
    return this.#run(caller, row, call, tool);
  }

  async #again(caller: McpCaller, known: CallRow, call: ToolCall, tool: McpTool): Promise<CallAnswer> {
    const running = this.#running.join(known);
    if (running !== undefined) return running;
    if (hasAsked(known)) return this.#untilEnded(known, call, tool);
    // Without its ledger row the call would run a second time.
    if (this.#options.host.deps.clock.now() - known.createdAt >= RESULTS_KEPT_MS)
      return failed(known.id, RESULT_GONE);
    return this.#run(caller, known, call, tool);
  }

  #run(caller: McpCaller, row: CallRow, call: ToolCall, tool: McpTool): Promise<CallAnswer> {
    return this.#running.run(row, call.requestId, (signal) => this.#act(caller, row, call, tool, signal));
  }

  async #act(
    caller: McpCaller,
    row: CallRow,
    call: ToolCall,
    tool: McpTool,
    signal: AbortSignal,
  ): Promise<CallAnswer> {
    const { canAsk, input } = call;
    const facts = await this.factsOf(caller);
    const output = await this.#options.host.actions.runOutside({
      name: tool.actionName,
      input,
      requestId: outsideRequest(row.id),
      toolCallId: row.id,
      signal,
      facts,
      payer: {
        messengerId: caller.person?.messenger ?? "",
        chatId: facts.address?.chatId ?? "",
        userId: caller.person?.userId ?? `token:${caller.tokenId}`,
      },
      caller: { id: caller.tokenId, name: caller.name },
      canAsk,
      owner: this.#options.owner,
      onProgress: (message) => this.#running.note(row.id, message),
    });
    if (!isWaitingResult(output)) {
      this.#running.settle(row.id, output as Json);
      return { kind: "result", callId: row.id, result: await resultIn(tool, output) };
    }
    const { waiting } = output;
    const asked =
      "approvalId" in waiting ? { approvalId: waiting.approvalId } : { parkedId: waiting.questionId };
    this.#store.change(row.id, asked);
    return this.#untilEnded({ ...row, ...asked }, call, tool);
  }

  /** The client has asked its person. */
  async #resume(caller: McpCaller, row: CallRow, call: ToolCall, tool: McpTool): Promise<CallAnswer> {
    const { answer, resumes } = call;
    const state = this.#stateOf(row);
    if (answer === undefined || state?.kind !== "waiting" || !state.isAskedByCaller)
      return this.#untilEnded(row, call, tool);
    const { asking, consent } = this.#options.host.features;
    const by = systemCaller(caller, await this.factsOf(caller));
    const { approvalId, parkedId } = row;
    if (approvalId !== undefined) await consent?.answer(approvalId, decisionOf(answer), by);
    // An answer that is sent again belongs to an earlier question.
    else if (parkedId !== undefined && resumes?.questionId !== undefined)
      await asking?.answer(
        parkedId,
        resumes.questionId,
        answer.action === "accept" ? answer.content : undefined,
        by,
      );
    return this.#untilEnded(row, call, tool);
  }

  /** Waits for a run to which people have agreed, and never for people. */
  async #untilEnded(row: CallRow, { canAsk }: ToolCall, tool: McpTool): Promise<CallAnswer> {
    const { action } = tool;
    const { clock } = this.#options.host.deps;
    const until = clock.now() + Math.min(LONGEST_WAIT_MS, action.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    for (;;) {
      const state = this.#stateOf(row);
      if (state === undefined) return failed(row.id, QUESTION_GONE);
      if (state.kind === "waiting" && state.isAskedByCaller)
        return canAsk
          ? { kind: "ask", callId: row.id, question: state.question, form: state.form }
          : failed(row.id, ASKED_BY_OTHER);
      if (state.kind === "ended")
        return { kind: "result", callId: row.id, result: await resultIn(tool, state.output) };
      if (state.kind === "waiting" || clock.now() >= until)
        return { kind: "task", callId: row.id, task: taskOf(row, state) };
      await wait(clock, LOOK_EVERY_MS);
    }
  }

  /** How far a run is that people have let go on. */
  #progressAfter({ approvalId, parkedId = "" }: CallRow): string | undefined {
    const owner = approvalId === undefined ? answeredOwner(parkedId) : approvedOwner(approvalId);
    return this.#options.host.actions.runProgress.lineOf(owner);
  }

  #stateOf({ approvalId, parkedId }: CallRow): AskedCall | undefined {
    const { asking, consent } = this.#options.host.features;
    if (approvalId !== undefined) return consent?.stateOf(approvalId);
    return parkedId === undefined ? undefined : asking?.stateOf(parkedId);
  }

  /** For whom a call runs: the person of the token, as if that person had asked in the private chat with the bot. */
  async factsOf({ person, scopes }: McpCaller): Promise<CallFacts> {
    if (person === undefined)
      return { people: [], person: undefined, address: undefined, chat: undefined, scopes };
    const found = await this.#options.host.objects.link.resolveTarget(person);
    const address = found.kind === "found" ? found.address : undefined;
    const author: MessengerAuthor = { userId: person.userId };
    return { people: [author], person: author, address, chat: threadOf(address), scopes };
  }
}

function hasAsked({ approvalId, parkedId }: CallRow): boolean {
  return approvalId !== undefined || parkedId !== undefined;
}

/** A client that closes the question without an answer takes the call back. */
function decisionOf({ action, content }: ClientAnswer): "approve" | "reject" | "withdraw" {
  if (action === "cancel") return "withdraw";
  return action === "accept" && consentSchema.safeParse(content).data?.approve === true
    ? "approve"
    : "reject";
}

function systemCaller({ name }: McpCaller, { address, person }: CallFacts): SystemCaller {
  return { name, person, messengerId: address?.messengerId };
}

function retryKeyOf({ idempotencyKey, requestId }: ToolCall): {
  readonly key: string;
  readonly isLasting: boolean;
} {
  if (idempotencyKey !== undefined) return { key: `key:${idempotencyKey}`, isLasting: true };
  const isLasting = typeof requestId === "string" && requestId.length >= LASTING_ID;
  return { key: `${typeof requestId}:${requestId}`, isLasting };
}

async function resultIn({ action }: McpTool, output: Json | ActionFailure): Promise<ToolResult> {
  return resultOf(output, (await outputSchemaOf(action)) !== undefined);
}

function failed(callId: string, failure: { readonly name: string; readonly message: string }): CallAnswer {
  return { kind: "result", callId, result: failureResult(failure) };
}

const TOO_MANY = {
  name: "TooManyCalls",
  message:
    "This token has too many calls at once. This request began nothing. Wait for one of them, then try again.",
};
const QUESTION_GONE = {
  name: "QuestionGone",
  message: "This question is not known any more, or belongs to another call. Call the tool again.",
};
const ASKED_BY_OTHER = {
  name: "AskedByOther",
  message:
    "The same call waits for the answer of another client of this token. Nothing was done. Answer it there.",
};
const RESULT_GONE = {
  name: "ResultGone",
  message: "This call was made weeks ago, and its result is not kept any more. Nothing was done this time.",
};
const KEY_CONFLICT = {
  name: "ActionKeyConflict",
  message: "This idempotency key was used for another call. Nothing was done this time.",
};

import { takenAs, type BroadcastWork, type HandOver, type HandOverResult } from "../core/turn/broadcast.ts";
import { checkContent } from "../core/message/check-content.ts";
import type { DeliveryReceipt } from "../core/chat/delivery.ts";
import type { Content } from "../core/message/content.ts";
import type { Deps } from "../core/base/deps.ts";
import { errorCode, InvalidInputError } from "../core/base/errors.ts";
import { withinTime } from "../core/time/within-time.ts";
import type { Prompt } from "../inbox/prompt-store.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { replyPolicy } from "../messengers/declare/texts.ts";
import { answerText } from "../messengers/turns/visible-text.ts";
import { noteOf } from "../messengers/turns/note-parts.ts";
import { replyIdOf } from "../messengers/turns/turn-replies.ts";
import type { UIMessage } from "ai";
import type { LegReport } from "../scheduled-runs/leg.ts";

/** Tells the root that the outcome of a message is known, which it has heard to be waiting. */
export type TellOutcome = (broadcastId: string, target: string) => void;

type TakingHost = Pick<
  FeatureHost<unknown>,
  "deps" | "durable" | "log" | "messengers" | "runs" | "submit" | "thread"
>;

/**
 * Takes one message of a broadcast in the object of its conversation, and returns its outcome as far as it is known. The
 * message is accepted once for each broadcast and thread, however often the call is repeated.
 */
export async function takeBroadcast(
  host: TakingHost,
  request: HandOver,
  tell: TellOutcome,
): Promise<HandOverResult> {
  const { address, broadcastId, notAfter, target, work } = request;
  const id = takenAs(broadcastId, address);
  if (!host.messengers.isDeclared(address.messengerId)) return { state: "failed", code: "messenger-unknown" };
  const { deps, runs, thread } = host;
  const { clock } = deps;
  const isLate = clock.now() > notAfter;
  if (work.kind === "content") {
    if (thread.delivery.receipt(id) === undefined) {
      if (isLate) return { state: "skipped", code: "expired" };
      const refusal = await post(host, id, request, work);
      if (refusal !== undefined) return refusal;
    }
    // A known message may come from a process that died before it could set a wake-up.
    thread.sayHost({ event: undefined, turn: undefined }).wakeSoon();
    await host.durable();
    const settled = thread.delivery.settled(id);
    await within(clock, request.waitMs, settled);
    const outcome = outcomeOf(thread.delivery.receipt(id));
    if (outcome.state === "waiting") void settled.then(() => tell(broadcastId, target));
    return outcome;
  }
  const { prompts } = thread.own;
  if (!prompts.isKnown(id, id) && isLate) return { state: "skipped", code: "expired" };
  const { messages, metadata, run } = work;
  if (run !== undefined) {
    // A scheduled task asks with one message of one text.
    await runs.submit({
      id,
      prompt: textOf(messages),
      recites: undefined,
      address,
      metadata,
      run: { ...run, broadcast: { id: broadcastId, target } },
    });
    await runs.settled(id, request.waitMs);
    return outcomeOfRun(id, await runs.report(id));
  }
  const { prompt } = await host.submit({
    kind: "prompt",
    idempotencyKey: id,
    messages,
    answerTo: [address],
    metadata,
  });
  const replyId = replyIdOf(prompt.id, 0);
  const answered = prompts.untilEnded(prompt.id).then(() => thread.delivery.settled(replyId));
  await within(clock, request.waitMs, answered);
  const outcome = answerOutcome(prompts.get(prompt.id), thread.delivery.receipt(replyId));
  if (outcome.state === "waiting") void answered.then(() => tell(broadcastId, target));
  return outcome;
}

/** Stores a message. Returns its outcome if it can never be sent. */
async function post(
  host: TakingHost,
  id: string,
  { address }: HandOver,
  work: Extract<BroadcastWork, { kind: "content" }>,
): Promise<HandOverResult | undefined> {
  const { deps, messengers, thread } = host;
  const { cards, delivery, own } = thread;
  const { informModel, isAnswer = false, noteKind, options } = work;
  try {
    const content = isAnswer ? shownAnswer(host, address.messengerId, work.content) : work.content;
    if (content === "") return { state: "skipped", code: "no-answer" };
    const ready = await cards.prepareOrTell(address.messengerId, checkContent(content));
    // Another call of this broadcast may have stored it meanwhile. It is posted once for its id.
    delivery.revive(address.chatId);
    const policy = replyPolicy(messengers.find(address.messengerId)?.delivery);
    cards.post({ id, address, policy, options, waitsForAnswer: isAnswer }, ready);
    if (informModel)
      own.notes.add(id, { text: noteOf(content, noteKind), at: deps.clock.now(), isKept: isAnswer });
    return undefined;
  } catch (error) {
    // Anything else may work later, and the call is repeated.
    if (error instanceof InvalidInputError)
      return { state: "failed", code: errorCode(error) ?? "content-invalid" };
    throw error;
  }
}

/** Returns a text of a model as people read it. */
function shownAnswer({ log, messengers }: TakingHost, messengerId: string, content: Content): Content {
  const definition = messengers.find(messengerId);
  if (definition === undefined || typeof content !== "string") return content;
  return answerText(definition, content, log);
}

function outcomeOf(receipt: DeliveryReceipt | undefined): HandOverResult {
  if (receipt === undefined) return { state: "waiting" };
  const { code, replyId: deliveryId, state } = receipt;
  if (state === "streaming" || state === "final") return { state: "waiting" };
  if (state !== "delivered") return { state: "failed", code: code ?? state, deliveryId };
  const messageIds = receipt.messages
    .filter((message) => message.part >= 0 && message.state === "sent")
    .flatMap(({ messageId, messageIds: all }) => all ?? (messageId === undefined ? [] : [messageId]));
  return { state: "sent", deliveryId, messageIds };
}

function answerOutcome(prompt: Prompt | undefined, receipt: DeliveryReceipt | undefined): HandOverResult {
  switch (prompt?.state) {
    case "pending":
    case "running":
      return { state: "waiting" };
    case "error":
      return { state: "failed", code: prompt.error ?? "turn-failed" };
    case "aborted":
      return { state: "skipped", code: "stopped" };
    case "completed": {
      const outcome = outcomeOf(receipt);
      const isSilent = outcome.state === "sent" && outcome.messageIds.length === 0;
      return isSilent ? { state: "skipped", code: "no-answer" } : outcome;
    }
    default:
      return { state: "failed", code: "turn-failed" };
  }
}

function textOf(messages: readonly UIMessage[]): string {
  const parts = messages.flatMap((message) => message.parts);
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** While the run waits for somebody's decision, its outcome is not known. */
function outcomeOfRun(deliveryId: string, report: LegReport): HandOverResult {
  const { code, messageIds = [], state, usage } = report;
  switch (state) {
    case "open":
      return { state: "waiting" };
    case "waiting":
      return { state, isDeciding: true };
    case "failed":
      return { state, code: code ?? "turn-failed", messageIds, deliveryId, usage };
    case "skipped":
      return { state, code: code ?? "no-answer", usage };
    case "completed":
      return messageIds.length === 0
        ? { state: "skipped", code: "no-answer", usage }
        : { state: "sent", code, deliveryId, messageIds, usage };
  }
}

/** Waits for `work`, at most `limitMs`. */
async function within(clock: Deps["clock"], limitMs: number, work: Promise<unknown>): Promise<void> {
  try {
    await withinTime(clock, limitMs, work, "sending a broadcast");
  } catch (error) {
    if (errorCode(error) !== "took-too-long") throw error;
  }
}

import type { BroadcastWork, HandOver, HandOverResult } from "../core/broadcast.ts";
import { checkContent } from "../core/check-content.ts";
import type { Delivery, DeliveryReceipt } from "../core/delivery.ts";
import type { Clock } from "../core/deps.ts";
import { errorCode, InvalidInputError } from "../core/errors.ts";
import { withinTime } from "../core/within-time.ts";
import type { Prompt } from "../inbox/prompt-store.ts";
import type { DeclaredMessengers } from "../messengers/declare/declared-messengers.ts";
import { replyPolicy } from "../messengers/declare/texts.ts";
import type { Cards } from "../messengers/replies/cards.ts";
import { noteOf } from "../messengers/turns/note-parts.ts";
import type { AcceptedPrompt, PromptRequest } from "../messengers/turns/prompts.ts";
import { replyIdOf } from "../messengers/turns/turn-replies.ts";
import type { UIMessage } from "ai";
import type { LegReport } from "../scheduled-runs/leg.ts";
import type { OwnTurns } from "../messengers/thread/own-turns.ts";
import type { ScheduledTurns } from "../scheduled-runs/scheduled-turns.ts";

export interface TakeBroadcastHost {
  readonly clock: Clock;
  readonly delivery: Pick<Delivery, "receipt" | "settled" | "revive">;
  readonly cards: Pick<Cards, "post" | "prepareOrTell">;
  readonly own: Pick<OwnTurns, "prompts" | "notes">;
  readonly messengers: Pick<DeclaredMessengers, "find" | "isDeclared">;
  /** The turns of scheduled tasks. */
  readonly scheduled: Pick<ScheduledTurns, "submit" | "report" | "settled">;
  /** Stores a prompt, and makes sure that its turn begins. */
  readonly submit: (request: PromptRequest) => Promise<AcceptedPrompt>;
  /** Makes sure that a stored message is sent, also if the object dies. Resolves when that is durable. */
  readonly stored: () => Promise<void>;
}

/**
 * Takes one message of a broadcast in the object of its conversation, and returns its outcome as far as it is known. The
 * message is accepted once for each broadcast and thread, however often the call is repeated.
 */
export async function takeBroadcast(host: TakeBroadcastHost, request: HandOver): Promise<HandOverResult> {
  const { address, broadcastId, notAfter, target, work } = request;
  const id = `broadcast:${broadcastId}:${address.threadId}`;
  if (!host.messengers.isDeclared(address.messengerId)) return { state: "failed", code: "messenger-unknown" };
  const isLate = host.clock.now() > notAfter;
  if (work.kind === "content") {
    if (host.delivery.receipt(id) === undefined) {
      if (isLate) return { state: "skipped", code: "expired" };
      const refusal = await post(host, id, request, work);
      if (refusal !== undefined) return { state: "failed", code: refusal };
    }
    // A known message may come from a process that died before it could set a wake-up.
    await host.stored();
    await within(host.clock, request.waitMs, host.delivery.settled(id));
    return outcomeOf(host.delivery.receipt(id));
  }
  const { prompts } = host.own;
  if (!prompts.isKnown(id, id) && isLate) return { state: "skipped", code: "expired" };
  const { messages, metadata, run } = work;
  if (run !== undefined) {
    const { scheduled } = host;
    // A scheduled task asks with one message of one text.
    await scheduled.submit({
      id,
      prompt: textOf(messages),
      recites: undefined,
      address,
      metadata,
      run: { ...run, broadcast: { id: broadcastId, target } },
    });
    await within(host.clock, request.waitMs, scheduled.settled(id));
    return outcomeOfRun(id, await scheduled.report(id));
  }
  const { prompt } = await host.submit({
    kind: "prompt",
    idempotencyKey: id,
    messages,
    answerTo: [address],
    metadata,
  });
  const replyId = replyIdOf(prompt.id, 0);
  const answered = prompts.untilEnded(prompt.id).then(() => host.delivery.settled(replyId));
  await within(host.clock, request.waitMs, answered);
  return answerOutcome(prompts.get(prompt.id), host.delivery.receipt(replyId));
}

/** Stores a message. Returns the code of the refusal if it can never be sent. */
async function post(
  { cards, clock, delivery, messengers, own }: TakeBroadcastHost,
  id: string,
  { address }: HandOver,
  { content, informModel, noteKind, options }: Extract<BroadcastWork, { kind: "content" }>,
): Promise<string | undefined> {
  try {
    const ready = await cards.prepareOrTell(address.messengerId, checkContent(content));
    // Another call of this broadcast may have stored it meanwhile. It is posted once for its id.
    delivery.revive(address.chatId);
    const policy = replyPolicy(messengers.find(address.messengerId)?.delivery);
    cards.post({ id, address, policy, options }, ready);
    if (informModel) own.notes.add(id, { text: noteOf(content, noteKind), at: clock.now() });
    return undefined;
  } catch (error) {
    // Anything else may work later, and the call is repeated.
    if (error instanceof InvalidInputError) return errorCode(error) ?? "content-invalid";
    throw error;
  }
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
      return { state, code: code ?? "turn-failed", deliveryId, usage };
    case "skipped":
      return { state, code: code ?? "no-answer", usage };
    case "completed":
      return messageIds.length === 0
        ? { state: "skipped", code: "no-answer", usage }
        : { state: "sent", deliveryId, messageIds, usage };
  }
}

/** Waits for `work`, at most `limitMs`. */
async function within(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<void> {
  try {
    await withinTime(clock, limitMs, work, "sending a broadcast");
  } catch (error) {
    if (errorCode(error) !== "took-too-long") throw error;
  }
}

import type { Clock } from "../../../src/core/base/deps.ts";
import { wait } from "../../../src/core/base/deps.ts";
import { InvalidInputError, errorCode } from "../../../src/core/base/errors.ts";
import type { PlatformContext, ReceiveContext } from "../../../src/core/chat/messenger.ts";
import { withinTime } from "../../../src/core/time/within-time.ts";
import type { Ingress, IngressChat } from "./ingress-chat.ts";
import type { ChatSdkSettings } from "../options.ts";
import { profileOf } from "../adapters/known-adapters.ts";
import { reportUndelivered } from "../errors/undelivered.ts";

/** Longest time that an adapter may take to handle a request, and then for its background work, in milliseconds. */
const limitMs = 10_000;

/**
 * Returns the adapter's answer when all events that it reported are durable.
 *
 * Returns 503 if one of them is not, or if the adapter is still working: the next event may be a message (I1). The
 * inbox recognizes the events of a redelivery by their keys.
 */
export async function receiveThrough(
  chat: IngressChat,
  request: Request,
  context: PlatformContext,
  receive: ReceiveContext,
  { adapter, provider, quickCommands }: ChatSdkSettings,
  body: () => unknown,
): Promise<Response> {
  const { clock } = context.deps;
  const { dropsEvents, explainRefusal, isStop, readUnreported } = profileOf(adapter.name);
  const background: Promise<unknown>[] = [];
  const stores: Promise<void>[] = [];
  /** True when the platform has got its answer. It does not send the events again. */
  let isAnswered = false;
  const ingress: Ingress = {
    accept: (events) => receive.accept(events),
    ignore(kind, threadId) {
      receive.ignore(kind);
      logOutcome(context, provider, `ignored: ${kind}`, threadId);
    },
    fail(error) {
      // Before the answer, a 503 makes the platform send the event again.
      if (!isAnswered) return;
      const code = errorCode(error) ?? "unknown";
      context.log.error("chat-sdk.event-lost", { provider, step: "after the answer", code });
    },
    findChat: receive.findChat,
    messageKind: () => (isStop?.(body()) === true ? "stop" : "new"),
    stores,
  };
  try {
    const handling = chat.within(ingress, async () => {
      const answer = await adapter.handleWebhook(request, {
        waitUntil: (task) => void background.push(Promise.resolve(task).catch(() => undefined)),
      });
      // The adapter has verified it, and reports nothing.
      const event = answer.ok ? readUnreported?.(body(), (number) => quickCommands[number]) : undefined;
      if (event?.kind === "unnamed-command") {
        const fix = `Name the command ${event.number} in \`quickCommands\`.`;
        context.log.warn("chat-sdk.command-unnamed", { provider, fix });
      } else if (event?.kind === "own") await chat.processOwn(event.threadIdOf(adapter), body());
      else if (event !== undefined)
        await chat.within({ ...ingress, messageKind: () => event.kind }, async () => event.report(adapter));
      return answer;
    });
    const response = await withinTime(clock, limitMs, handling, "The adapter's handling of a webhook");
    const isFinished = await settleAll([background, stores], clock);
    if (!isFinished) context.log.warn("chat-sdk.background-slow", { provider });
    await Promise.all(isFinished ? stores : stores.map((store) => rejectIfPending(store)));
    if (!isFinished) throw new InvalidInputError("background-slow", "The adapter's work took too long.");
    if (response.ok) await reportUndelivered(adapter, body, context, receive);
    if (stores.length === 0) {
      logOutcome(context, provider, nothingReported(response));
      const fix = response.status === 401 ? explainRefusal?.(body(), adapter) : undefined;
      if (fix !== undefined) context.log.warn("chat-sdk.webhook-refused", { provider, fix });
      if (response.ok && dropsEvents?.(body()) === true)
        context.log.warn("chat-sdk.events-dropped", { provider });
    }
    isAnswered = true;
    return response;
  } catch (error) {
    return unavailable(context, provider, "receive", error);
  }
}

/**
 * Answers a GET request with which the platform checks the webhook. Undefined if the adapter does not handle GET
 * requests. Events that the adapter reports are dropped, because a GET request brings none.
 */
export async function answerHandshake(
  chat: IngressChat,
  request: Request,
  context: PlatformContext,
  { adapter, provider }: ChatSdkSettings,
): Promise<Response | undefined> {
  const ingress: Ingress = {
    accept: () => Promise.reject(new InvalidInputError("chat-sdk-get", "A GET request brings no events.")),
    ignore: () => undefined,
    fail: () => logOutcome(context, provider, "ignored: reported by a GET request"),
    findChat: () => undefined,
    stores: [],
  };
  try {
    const handling = chat.within(ingress, () =>
      adapter.handleWebhook(request, { waitUntil: () => undefined }),
    );
    const response = await withinTime(context.deps.clock, limitMs, handling, "The adapter's handshake");
    if (!isHandshakeAnswer(response)) return undefined;
    logOutcome(context, provider, `handshake answered ${response.status}`);
    return response;
  } catch {
    // An adapter without handshakes throws because the body is missing.
    return undefined;
  }
}

/**
 * True if the adapter answered the check. 401 and 403 refuse the secret. With any other error, the adapter took the
 * request for an event.
 */
function isHandshakeAnswer({ ok, status }: Response): boolean {
  return ok || status === 401 || status === 403;
}

/** Answers 503, so that the platform sends the request again. */
export function unavailable(
  context: PlatformContext,
  provider: string,
  step: string,
  error: unknown,
): Response {
  context.log.error("chat-sdk.receive-failed", { provider, step, code: errorCode(error) ?? "unknown" });
  return Response.json(
    { ok: false, error: "The event could not be stored; send it again." },
    { status: 503 },
  );
}

/** Logs a request or an event that leaves no row in an inbox, with the words used for stored events. */
function logOutcome(context: PlatformContext, provider: string, outcome: string, thread?: string): void {
  context.log.info("inbox.event", {
    messenger: context.messengerId,
    provider,
    ...(thread ? { thread } : {}),
    outcome,
  });
}

function nothingReported({ ok, status }: Response): string {
  return ok
    ? `ignored: the adapter reported no event (answered ${status})`
    : `refused by the adapter (answered ${status})`;
}

/** Waits until all tasks, and the tasks that they started, have ended. Returns `false` if that takes too long. */
async function settleAll(groups: readonly (readonly Promise<unknown>[])[], clock: Clock): Promise<boolean> {
  const stop = new AbortController();
  const everything = async () => {
    for (let seen = -1; seen !== count(groups);) {
      seen = count(groups);
      await Promise.allSettled(groups.flat());
    }
    return true;
  };
  const limit = wait(clock, limitMs, stop.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([everything(), limit]);
  } finally {
    stop.abort();
  }
}

function count(groups: readonly (readonly unknown[])[]): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}

/** Rejects if the event is not stored yet. */
function rejectIfPending(store: Promise<void>): Promise<void> {
  return Promise.race([store, Promise.resolve().then(() => Promise.reject(new Error("not stored in time")))]);
}

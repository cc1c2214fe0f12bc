import type { Clock } from "../../src/core/deps.ts";
import { wait } from "../../src/core/deps.ts";
import { InvalidInputError, errorCode } from "../../src/core/errors.ts";
import type { PlatformContext, ReceiveContext } from "../../src/core/messenger.ts";
import { withinTime } from "../../src/core/within-time.ts";
import type { Ingress, IngressChat } from "./ingress-chat.ts";
import type { ChatSdkSettings } from "./options.ts";

/** Longest time that an adapter may handle a request, and then its background work, in milliseconds. */
const limitMs = 10_000;

/**
 * The adapter's answer, once everything that it reported is durable. 503 if anything is not, or if the adapter is still
 * at work: what it has not reported yet may be a message (I1). A redelivery is known again by its key.
 */
export async function receiveThrough(
  chat: IngressChat,
  request: Request,
  context: PlatformContext,
  receive: ReceiveContext,
  { adapter, provider }: ChatSdkSettings,
): Promise<Response> {
  const { clock } = context.deps;
  const background: Promise<unknown>[] = [];
  const stores: Promise<void>[] = [];
  /** The platform was told that all is well, and sends nothing again. */
  let isAnswered = false;
  const ingress: Ingress = {
    accept: (events) => receive.accept(events),
    ignore(kind, threadId) {
      receive.ignore(kind);
      logOutcome(context, provider, `ignored: ${kind}`, threadId);
    },
    fail(error) {
      // Until the adapter's answer is given, a 503 has the platform send it again.
      if (!isAnswered) return;
      const code = errorCode(error) ?? "unknown";
      context.log.error("chat-sdk.event-lost", { provider, step: "after the answer", code });
    },
    stores,
  };
  try {
    const handling = chat.within(ingress, () =>
      adapter.handleWebhook(request, {
        waitUntil: (task) => void background.push(Promise.resolve(task).catch(() => undefined)),
      }),
    );
    const response = await withinTime(clock, limitMs, handling, "The adapter's handling of a webhook");
    const isFinished = await settleAll([background, stores], clock);
    if (!isFinished) context.log.warn("chat-sdk.background-slow", { provider });
    await Promise.all(isFinished ? stores : stores.map((store) => orPending(store)));
    if (!isFinished) throw new InvalidInputError("background-slow", "The adapter's work took too long.");
    if (stores.length === 0) logOutcome(context, provider, nothingReported(response));
    isAnswered = true;
    return response;
  } catch (error) {
    return unavailable(context, provider, "receive", error);
  }
}

/**
 * The adapter's answer to a GET request with which its platform checks the webhook; `undefined` when the adapter does not
 * handle GET requests. Whatever else the adapter makes of one is dropped: a GET request decides nothing.
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
    // An adapter without handshakes fails over the missing body.
    return undefined;
  }
}

/** A refused secret is an answer too. All other errors say that the adapter took the request for an event. */
function isHandshakeAnswer({ ok, status }: Response): boolean {
  return ok || status === 401 || status === 403;
}

/** 503: the platform sends the request again. */
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

/** One line for a request or an event that leaves no row in an inbox, in the words of those that do. */
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

/** Waits until all tasks, and those that they started, have ended; `false` when that takes too long. */
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

/** Rejects for an event whose storing has not ended: it is not durable yet. */
function orPending(store: Promise<void>): Promise<void> {
  return Promise.race([store, Promise.resolve().then(() => Promise.reject(new Error("not stored in time")))]);
}

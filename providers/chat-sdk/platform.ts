import type { Deps } from "../../src/core/deps.ts";
import { wait } from "../../src/core/deps.ts";
import { errorCode } from "../../src/core/errors.ts";
import type { MessengerPlatform, PlatformContext, ReceiveContext } from "../../src/core/messenger.ts";
import { fetchAttachment } from "./attachments.ts";
import { ChatSdkCallError } from "./call-error.ts";
import type { Ingress, IngressChat } from "./ingress-chat.ts";
import type { ChatSdkSettings } from "./options.ts";
import { parseEvent } from "./parse-event.ts";
import { createChatSdkSurface } from "./surface.ts";

/** Most time that an adapter's background work may hold back the answer to a webhook, in milliseconds. */
const backgroundLimitMs = 10_000;

/** A Chat SDK adapter as a platform. The SDK is loaded, and the adapter initialized, when either is first needed. */
export function createChatSdkPlatform(settings: ChatSdkSettings): MessengerPlatform {
  const { adapter, provider, capabilities } = settings;
  let starting: Promise<IngressChat> | undefined;

  const ready = (context: PlatformContext): Promise<IngressChat> => {
    starting ??= start(settings, context).catch((error: unknown) => {
      // The next request tries again.
      starting = undefined;
      throw error;
    });
    return starting;
  };

  return {
    provider,
    // A channel is the thread of what is said outside of its threads.
    chatThreadId: (chatId) => chatId,
    verification: { kind: "none" },
    async receive(request, context, receive) {
      let chat: IngressChat;
      try {
        chat = await ready(context);
      } catch (error) {
        return unavailable(context, provider, "initialize", error);
      }
      return receiveThrough(chat, request, context, receive, settings);
    },
    parse: async (incoming, { messengerId }) => parseEvent(incoming, { messengerId, provider, capabilities }),
    surface: (context) => createChatSdkSurface(settings, async () => void (await ready(context))),
    async fetchIdentity(context) {
      try {
        await ready(context);
      } catch {
        throw new ChatSdkCallError("initialize", { kind: "transient", code: "not-initialized" });
      }
      return { userId: adapter.botUserId ?? "", userName: adapter.userName || settings.userName };
    },
    fetchAttachment: async (reference, context, options) =>
      fetchAttachment(reference, adapter, {
        ...options,
        fetch: context.deps.fetch,
        hosts: settings.attachmentHosts,
      }),
  };
}

/** The SDK is a large module: it is evaluated only in objects that use it. */
async function start(settings: ChatSdkSettings, context: PlatformContext): Promise<IngressChat> {
  const [{ IngressChat }, { createVolatileState }, { createSdkLogger }] = await Promise.all([
    import("./ingress-chat.ts"),
    import("./volatile-state.ts"),
    import("./sdk-log.ts"),
  ]);
  const chat = new IngressChat({
    adapter: settings.adapter,
    userName: settings.userName,
    state: createVolatileState(context.deps.clock),
    logger: createSdkLogger(context.log, settings.provider),
    clock: context.deps.clock,
  });
  await chat.initialize();
  return chat;
}

/** The adapter's answer, once everything that it reported is durable; 503 if anything is not (I1). */
async function receiveThrough(
  chat: IngressChat,
  request: Request,
  context: PlatformContext,
  receive: ReceiveContext,
  { adapter, provider }: ChatSdkSettings,
): Promise<Response> {
  const background: Promise<unknown>[] = [];
  const stores: Promise<void>[] = [];
  const ingress: Ingress = {
    accept: (events) => receive.accept(events),
    ignore: (kind) => receive.ignore(kind),
    stores,
  };
  try {
    const response = await chat.within(ingress, () =>
      adapter.handleWebhook(request, {
        waitUntil: (task) => void background.push(task.catch(() => undefined)),
      }),
    );
    const isFinished = await settleAll([background, stores], context.deps);
    if (!isFinished) context.log.warn("chat-sdk.background-slow", { provider });
    await Promise.all(isFinished ? stores : stores.map((store) => orPending(store)));
    return response;
  } catch (error) {
    return unavailable(context, provider, "receive", error);
  }
}

/** Waits until all tasks, and those that they started, have ended; `false` when that takes too long. */
async function settleAll(
  groups: readonly (readonly Promise<unknown>[])[],
  { clock }: Pick<Deps, "clock">,
): Promise<boolean> {
  const stop = new AbortController();
  const everything = async () => {
    for (let seen = -1; seen !== count(groups);) {
      seen = count(groups);
      await Promise.allSettled(groups.flat());
    }
    return true;
  };
  const limit = wait(clock, backgroundLimitMs, stop.signal).then(
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

function unavailable(context: PlatformContext, provider: string, step: string, error: unknown): Response {
  context.log.error("chat-sdk.receive-failed", { provider, step, code: errorCode(error) ?? "unknown" });
  return Response.json(
    { ok: false, error: "The event could not be stored; send it again." },
    { status: 503 },
  );
}

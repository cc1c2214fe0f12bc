import type { IncomingEvent, MessengerPlatform, PlatformContext } from "../../src/core/messenger.ts";
import type { MessengerEvent } from "../../src/core/messenger-event.ts";
import { errorCode } from "../../src/core/errors.ts";
import { requireSecretsKey } from "../../src/core/secret-box.ts";
import { withinTime } from "../../src/core/within-time.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { fetchAttachment } from "./attachments.ts";
import { ChatSdkCallError } from "./call-error.ts";
import { describeChat } from "./describe-chat.ts";
import type { IngressChat } from "./ingress-chat.ts";
import type { ChatSdkSettings } from "./options.ts";
import { parseEvent } from "./parse-event.ts";
import { answerHandshake, receiveThrough, unavailable } from "./receive.ts";
import { placeOf } from "./shards.ts";
import { createStateAtRoot } from "./state-at-root.ts";
import type { StateCalls } from "./state-at-root.ts";
import { createChatSdkSurface } from "./surface.ts";
import { updateOf } from "./updates.ts";

/** Longest time that an adapter may take to initialize, in milliseconds. After that the next request tries again. */
const initializeLimitMs = 10_000;

/** Creates a platform from a Chat SDK adapter. The SDK is loaded and the adapter initialized on first use. */
export function createChatSdkPlatform(settings: ChatSdkSettings): MessengerPlatform {
  const { adapter, provider, capabilities, onUpdate } = settings;
  let starting: Promise<IngressChat> | undefined;

  const ready = (context: PlatformContext): Promise<IngressChat> => {
    starting ??= withinTime(
      context.deps.clock,
      initializeLimitMs,
      start(settings, context),
      "The adapter's initialize",
    ).catch((error: unknown) => {
      // The next request tries again.
      starting = undefined;
      throw error;
    });
    return starting;
  };

  const isSecretKeeper = profileOf(adapter.name).keepsSecrets?.(adapter) ?? false;
  return {
    provider,
    ...(isSecretKeeper && {
      checkEnvironment: (env) =>
        requireSecretsKey(env, `The adapter "${adapter.name}" with several installations`),
    }),
    atRoot: createStateAtRoot,
    // Messages outside all threads belong to the channel's own thread.
    chatThreadId: (chatId) => chatId,
    // The topics of these platforms are threads, whose ids are the adapter's own.
    topicThreadId: (_chatId, topicId) => topicId,
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
    async handshake(request, context) {
      let chat: IngressChat;
      try {
        chat = await ready(context);
      } catch (error) {
        return unavailable(context, provider, "initialize", error);
      }
      return answerHandshake(chat, request, context, settings);
    },
    parse: async (incoming: IncomingEvent, { messengerId }) =>
      parseEvent(incoming, { messengerId, provider, capabilities }),
    describeChat,
    surface: (context) =>
      createChatSdkSurface(settings, context.deps, async () => void (await ready(context))),
    async fetchIdentity(context) {
      try {
        await ready(context);
      } catch {
        throw new ChatSdkCallError("initialize", { kind: "transient", code: "not-initialized" });
      }
      return { userId: adapter.botUserId ?? "", userName: adapter.userName || settings.userName };
    },
    ...(onUpdate !== undefined && {
      handleUpdate: async (event: MessengerEvent, context: PlatformContext) => {
        await ready(context);
        await onUpdate({ update: updateOf(event), adapter });
      },
    }),
    fetchAttachment: async (reference, context, options) =>
      fetchAttachment(reference, adapter, {
        ...options,
        ready: () => ready(context),
        fetch: context.deps.fetch,
        hosts: settings.attachmentHosts,
      }),
  };
}

/** Loads the SDK and initializes the adapter. The SDK is large, so only objects that use it load it. */
async function start(settings: ChatSdkSettings, context: PlatformContext): Promise<IngressChat> {
  const [{ IngressChat }, { createDurableState }, { adoptLogger, createSdkLogger }] = await Promise.all([
    import("./ingress-chat.ts"),
    import("./durable-state.ts"),
    import("./sdk-log.ts"),
  ]);
  const { adapter, onUpdate, provider, reactions, userName } = settings;
  const { log, deps } = context;
  const logger = createSdkLogger(log, provider);
  adoptLogger(adapter, logger);
  const profile = profileOf(adapter.name);
  profile.prepare?.(adapter);
  const state = createDurableState({
    clock: deps.clock,
    at: (key) => context.root<StateCalls>(placeOf(settings, key)),
    kindOf: (key) => profile.stateKind?.(key, adapter),
    onFailure: (error) => chat.failed(error),
  });
  const chat = new IngressChat({
    adapter,
    userName,
    state,
    logger,
    clock: deps.clock,
    takesReactions: reactions,
    takesUpdates: onUpdate !== undefined,
    onOutside: (error) =>
      log.error("chat-sdk.event-lost", { provider, step: "outside", code: errorCode(error) ?? "unknown" }),
  });
  await chat.initialize();
  return chat;
}

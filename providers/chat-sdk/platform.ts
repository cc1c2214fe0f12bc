import type { Adapter } from "chat";
import { DAY_MS } from "../../src/core/time/civil-time.ts";
import { parseJson } from "../../src/core/json/parse-json.ts";
import type { Address, CallFailure, Surface } from "../../src/core/chat/surface.ts";
import { withTimeLimit } from "../../src/core/time/with-time-limit.ts";
import type {
  IncomingEvent,
  MessengerPlatform,
  PlatformContext,
  ReceiveContext,
  UpdateTexts,
} from "../../src/core/chat/messenger.ts";
import type { MessengerEvent, MessengerThread } from "../../src/core/chat/messenger-event.ts";
import { errorCode } from "../../src/core/base/errors.ts";
import { requireSecretsKey } from "../../src/core/store/secret-box.ts";
import { withinTime } from "../../src/core/time/within-time.ts";
import type { AdapterProfile, KeptFilesOf } from "./adapters/adapter-profile.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { fetchAttachment } from "./attachments.ts";
import { ChatSdkCallError } from "./errors/call-error.ts";
import { describeChat } from "./describe-chat.ts";
import type { DurableState } from "./state/durable-state.ts";
import type { IngressChat } from "./events/ingress-chat.ts";
import { Installations } from "./state/installations.ts";
import type { InstallationRules } from "./adapters/installation-rules.ts";
import type { ChatSdkSettings, InstallOptions } from "./options.ts";
import { NewestAddresses } from "./newest-addresses.ts";
import { parseEvent } from "./events/parse-event.ts";
import { noteReported } from "./events/reported-posts.ts";
import { answerHandshake, receiveThrough, unavailable } from "./events/receive.ts";
import { createKeptFiles } from "./state/kept-file-store.ts";
import type { KeptFileCalls } from "./state/kept-file-store.ts";
import { placeOf } from "./state/shards.ts";
import { withState } from "./state/state-of-call.ts";
import { createStateAtRoot } from "./state/state-at-root.ts";
import type { StateCalls } from "./state/state-at-root.ts";
import type { StateKind } from "./state/state-kind.ts";
import { createChatSdkSurface } from "./surface.ts";
import { OWN_EVENT, updateOf } from "./events/updates.ts";

/** A few objects share the files of all chats, so that each deletes old ones when it gets new ones. */
const KEPT_SHARDS = 16;

/** Longest time that an adapter may take to initialize, in milliseconds. After that the next request tries again. */
const initializeLimitMs = 10_000;

/** A sign of life holds up the answer to the webhook. */
const SIGN_LIMIT_MS = 3000;
/** A platform delivers an event again for less than this long. */
const SIGN_KNOWN_MS = 2 * DAY_MS;

/**
 * Creates a platform from a Chat SDK adapter. Each object loads the SDK and initializes the adapter on first use. Objects
 * may share the platform.
 */
export function createChatSdkPlatform(settings: ChatSdkSettings): MessengerPlatform {
  const { adapter, provider, capabilities, onUpdate } = settings;
  const profile = profileOf(adapter.name);
  const { handleOwn, installations: rules, keepsSecrets } = profile;
  const newest = new Map<string, string>();
  const addresses = profile.addresses && new NewestAddresses(profile.addresses);
  const starts = new WeakMap<PlatformContext, Promise<Started>>();

  const ready = (context: PlatformContext): Promise<Started> => {
    const known = starts.get(context);
    if (known !== undefined) return known;
    const starting = withinTime(
      context.deps.clock,
      initializeLimitMs,
      start(settings, context, addresses),
      "The adapter's initialize",
    ).catch((error: unknown) => {
      // The next request tries again.
      starts.delete(context);
      throw error;
    });
    starts.set(context, starting);
    return starting;
  };

  const keptIn =
    (context: PlatformContext): KeptFilesOf =>
    (chatId) => {
      let sum = 0;
      for (const byte of new TextEncoder().encode(chatId)) sum += byte;
      const shard = `files-${sum % KEPT_SHARDS}`;
      return context.root<KeptFileCalls>({ shard, root: settings.stateRoot });
    };

  const platform: MessengerPlatform = {
    provider,
    ...(keepsSecrets?.(adapter) === true && {
      checkEnvironment: (env) =>
        requireSecretsKey(env, `The adapter "${adapter.name}" with several installations`),
    }),
    atRoot: (host) => ({
      ...createStateAtRoot(host, async (value) =>
        rules?.renew?.(adapter, value, { fetch: host.deps.fetch, now: host.deps.clock.now() }),
      ),
      ...createKeptFiles(host),
    }),
    ...(settings.install !== undefined &&
      rules !== undefined && {
        install: installPages(settings, settings.install, rules, ready),
      }),
    // Messages outside all threads belong to the channel's own thread.
    chatThreadId: (chatId) => chatId,
    // The topics of these platforms are threads, whose ids are the adapter's own.
    topicThreadId: (_chatId, topicId) => topicId,
    verification: { kind: "none" },
    async receive(request, context, receive) {
      let started: Started;
      try {
        started = await ready(context);
      } catch (error) {
        return unavailable(context, provider, "initialize", error);
      }
      const isRead =
        started.installations.learns ||
        [
          profile.dropsEvents,
          profile.isStop,
          profile.readUnreported,
          profile.readUndelivered,
          profile.search?.readReported,
        ].some((read) => read !== undefined);
      const text = isRead ? await request.clone().text() : undefined;
      // Only what the adapter has verified is read: it reports nothing before that.
      const body = (): unknown => (text === undefined ? undefined : parseJson(text));
      const signs: Address[] = [];
      const accept: ReceiveContext["accept"] = async (events) => {
        // The answer may be there before the event is accepted.
        await settings.templates?.note(events, started.state, context.deps.clock.now());
        await receive.accept(events);
        for (const { thread } of events)
          if (profile.wantsSign?.(thread.id) === true) signs.push(addressOf(context, thread));
      };
      const receiving = { ...receive, accept };
      const response = await receiveThrough(started.chat, request, context, receiving, settings, body);
      if (!response.ok) return response;
      await started.installations.learn(request.headers, body);
      if (profile.search !== undefined) await noteReported(profile.search, started.state, body);
      for (const address of signs) await showSign(started, platform.surface(context), address, context);
      return response;
    },
    async handshake(request, context) {
      let chat: IngressChat;
      try {
        ({ chat } = await ready(context));
      } catch (error) {
        return unavailable(context, provider, "initialize", error);
      }
      return answerHandshake(chat, request, context, settings);
    },
    async parse(incoming: IncomingEvent, { messengerId }) {
      const event = parseEvent(incoming, { messengerId, provider, capabilities });
      if (profile.startTyping !== undefined) noteNewest(newest, event);
      addresses?.hear(event.thread.id, event.raw);
      return event;
    },
    describeChat,
    opensWindows: settings.templates !== undefined,
    surface: (context) =>
      createChatSdkSurface(settings, context.deps, () => ready(context), {
        addresses,
        newest,
        kept: keptIn(context),
      }),
    async fetchIdentity(context) {
      try {
        await ready(context);
      } catch {
        throw new ChatSdkCallError("initialize", { kind: "transient", code: "not-initialized" });
      }
      return { userId: adapter.botUserId ?? "", userName: adapter.userName || settings.userName };
    },
    ...((onUpdate ?? handleOwn) !== undefined && {
      handleUpdate: async (event: MessengerEvent, context: PlatformContext, textOf: UpdateTexts) => {
        const { state } = await ready(context);
        if (event.detail !== OWN_EVENT)
          return withState(state, async () => onUpdate?.({ update: updateOf(event), adapter }));
        const { clock, fetch } = context.deps;
        const { id } = event.thread;
        const threadId = (await addresses?.newestId(id, { state, now: clock.now() })) ?? id;
        const classify = (error: unknown): CallFailure => platform.surface(context).classifyError(error);
        const options = { clock, fetch, threadId, classify, kept: keptIn(context), textOf };
        await withState(state, async () => handleOwn?.(event, adapter, options));
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
  return platform;
}

/** Most threads of one object whose newest message is remembered. */
const MOST_NEWEST = 1000;

function noteNewest(newest: Map<string, string>, { kind, message, thread }: MessengerEvent): void {
  const isNew = kind === "direct-message" || kind === "mention" || kind === "message";
  if (!isNew || message === undefined) return;
  const [oldest] = newest.keys();
  if (oldest !== undefined && newest.size >= MOST_NEWEST) newest.delete(oldest);
  newest.set(thread.id, message.id);
}

function addressOf({ messengerId }: PlatformContext, thread: MessengerThread): Address {
  const { chatId, id: threadId, isDirectMessage, topicId } = thread;
  return { messengerId, chatId, threadId, isDirectMessage, ...(topicId !== undefined && { topicId }) };
}

/** Shows once in a thread that the bot works, before the turn does. A sign that fails is not missed for long. */
async function showSign(
  { state }: Started,
  surface: Surface,
  address: Address,
  { deps }: PlatformContext,
): Promise<void> {
  const key = `switchboard:sign:${address.threadId}`;
  try {
    if ((await state.get(key)) !== null) return;
    await state.set(key, true, SIGN_KNOWN_MS);
    await withTimeLimit(deps.clock, SIGN_LIMIT_MS, (signal) => surface.typing(address, { signal }));
  } catch {
    // The turn shows another one when it begins.
  }
}

/** An adapter that is initialized. */
interface Started {
  readonly chat: IngressChat;
  readonly installations: Installations;
  readonly state: DurableState;
}

/** Returns the pages on which people add the app to their workspace. */
function installPages(
  { adapter, stateRoot }: ChatSdkSettings,
  options: InstallOptions,
  rules: InstallationRules,
  ready: (context: PlatformContext) => Promise<Started>,
): NonNullable<MessengerPlatform["install"]> {
  return async (request, step, context) => {
    const { state } = await ready(context);
    const calls = context.root<StateCalls>({ root: stateRoot });
    const { beginInstallation, finishInstallation } = await import("./state/install-pages.ts");
    const pages = { adapter, rules, options, context, calls };
    return withState(state, async () =>
      step === "begin" ? beginInstallation(request, pages) : finishInstallation(request, pages),
    );
  };
}

/** Loads the SDK and initializes the adapter. The SDK is large, so only objects that use it load it. */
async function start(
  settings: ChatSdkSettings,
  context: PlatformContext,
  addresses: NewestAddresses | undefined,
): Promise<Started> {
  const [{ IngressChat }, { createDurableState }, { adoptLogger, createSdkLogger }] = await Promise.all([
    import("./events/ingress-chat.ts"),
    import("./state/durable-state.ts"),
    import("./sdk-log.ts"),
  ]);
  const { adapter, onUpdate, provider, reactions, userName } = settings;
  const { log, deps } = context;
  const logger = createSdkLogger(log, provider);
  adoptLogger(adapter, logger);
  const profile = profileOf(adapter.name);
  prepareOnce(adapter, profile);
  const kindOf = (key: string): StateKind | undefined => profile.stateKind?.(key, adapter);
  const state = createDurableState({
    clock: deps.clock,
    at: (key) => context.root<StateCalls>(placeOf(settings, key, kindOf(key))),
    kindOf,
    onFailure: (error) => chat.failed(error),
  });
  const installations = new Installations(adapter, state, profile.installations);
  const chat = new IngressChat({
    adapter,
    userName,
    state,
    installations,
    logger,
    clock: deps.clock,
    takesReactions: reactions,
    takesUpdates: onUpdate !== undefined,
    firstId: async (threadId, raw, findChat) =>
      addresses?.firstId(threadId, raw, { findChat, state, now: deps.clock.now() }) ?? threadId,
    onOutside: (error) =>
      log.error("chat-sdk.event-lost", { provider, step: "outside", code: errorCode(error) ?? "unknown" }),
  });
  await withState(state, () => chat.initialize());
  return { chat, installations, state };
}

const prepared = new WeakSet<Adapter>();

/** Another object that shares the adapter may have prepared it. */
function prepareOnce(adapter: Adapter, { prepare, search }: AdapterProfile): void {
  if (prepared.has(adapter)) return;
  prepared.add(adapter);
  prepare?.(adapter);
  search?.keyPosts?.(adapter);
}

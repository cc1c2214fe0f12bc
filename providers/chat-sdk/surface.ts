import { abortError, untilAborted } from "../../src/core/time/until-aborted.ts";
import type { Adapter } from "chat";
import type { Deps } from "../../src/core/base/deps.ts";
import type { Placeholder } from "../../src/core/message/placeholder.ts";
import type { Address, CallFailure, Surface } from "../../src/core/chat/surface.ts";
import { WINDOW_CLOSED } from "../../src/core/chat/window-closed.ts";
import type { KeptFilesOf } from "./adapters/adapter-profile.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { postEphemeral } from "./adapters/post-ephemeral.ts";
import { ChatSdkCallError, aboutFiles, adapterFailure } from "./errors/call-error.ts";
import { rateLimited } from "./adapters/refusals.ts";
import { withPostKey } from "./adapters/search/post-key.ts";
import { CallPauses } from "./errors/call-pauses.ts";
import type { DurableState } from "./state/durable-state.ts";
import { readErrorFacts } from "./errors/error-facts.ts";
import type { CallMethod } from "./errors/failed-call.ts";
import type { Installations } from "./state/installations.ts";
import { type LoggedError, loggingTo } from "./errors/logged-error.ts";
import { markdown } from "./markup/markdown.ts";
import type { NewestAddresses } from "./newest-addresses.ts";
import { toPostable } from "./postable.ts";
import { reportedId } from "./events/reported-posts.ts";
import { readFiles } from "./read-files.ts";
import type { ChatSdkSettings } from "./options.ts";

const NOT_INITIALIZED: CallFailure = { kind: "transient", code: "not-initialized" };

interface ThreadFacts {
  readonly addresses: NewestAddresses | undefined;
  /** Ids of the newest messages that were read, by thread. */
  readonly newest: ReadonlyMap<string, string>;
  readonly kept: KeptFilesOf;
}

/**
 * Creates a surface from any Chat SDK adapter.
 *
 * @param ready initializes the adapter before its first call. If it fails, the call was certainly not made.
 */
export function createChatSdkSurface(
  settings: ChatSdkSettings,
  { clock, fetch, newId }: Pick<Deps, "clock" | "fetch" | "newId">,
  ready: () => Promise<{ readonly installations: Installations; readonly state: DurableState }>,
  { addresses, kept, newest }: ThreadFacts,
): Surface {
  const { adapter, capabilities, templates } = settings;
  const profile = profileOf(adapter.name);
  const typing = profile.typing?.(adapter) ?? { lastsMs: 5000 };
  const { markup = markdown, takesMarkdown = profile.markup === undefined } = profile;
  const cardMarkup = capabilities.supportsActions ? profile.cardMarkup : undefined;
  const abilities = { ...capabilities, hasCards: cardMarkup !== undefined, takesMarkdown };
  const limits = {
    maxLength: capabilities.maxMessageLength,
    unit: profile.lengthUnit,
    maxEntities: Infinity,
  };
  const { search } = profile;
  const buttonLimits = profile.buttonLimitsOf?.(adapter) ?? profile.buttonLimits;
  const reach: NewestAddresses["newestId"] = async (threadId, known) =>
    addresses?.newestId(threadId, known) ?? threadId;
  const classify = (
    error: unknown,
    logged: LoggedError,
    method: CallMethod,
    isInThread: boolean,
  ): CallFailure => {
    const now = clock.now();
    return adapterFailure(readErrorFacts(error, logged.error, now), { method, isInThread, now }, profile);
  };
  const pauses = profile.pauseOf && new CallPauses(profile.pauseOf);
  const accountOf = async ({ chatId, threadId }: Address): Promise<string> => {
    if (profile.installations?.isUsed(adapter) !== true) return "";
    // Without the adapter no call is made, either.
    const started = await ready().catch(() => undefined);
    return (await started?.installations.of(chatId, threadId)) ?? "";
  };
  const call = async <Result>(
    method: CallMethod,
    address: Address,
    signal: AbortSignal,
    run: (adapter: Adapter, threadId: string) => Promise<Result>,
  ): Promise<Result> => {
    const { chatId, threadId } = address;
    let installations: Installations;
    let reachedId: string;
    try {
      // Adapters take no signal, so a call goes on, and its late outcome is dropped.
      const started = await untilAborted(signal, ready(), abortError);
      ({ installations } = started);
      const known = { state: started.state, now: clock.now() };
      reachedId = await untilAborted(signal, reach(threadId, known), abortError);
    } catch (error) {
      // The adapter may sign in when it starts.
      const failure = classify(error, { error: undefined }, method, false);
      const isRefused = failure.kind === "misconfigured";
      throw new ChatSdkCallError("initialize", isRefused ? failure : NOT_INITIALIZED);
    }
    const logged: LoggedError = { error: undefined };
    const make = (): Promise<Result> =>
      loggingTo(logged, () => installations.run(chatId, threadId, () => run(adapter, reachedId)));
    const account = pauses === undefined ? "" : await untilAborted(signal, accountOf(address), abortError);
    const pauseMs = pauses?.left(account, clock.now()) ?? 0;
    if (pauseMs > 0) throw new ChatSdkCallError(method, rateLimited(pauseMs));
    try {
      const made = pauses === undefined ? make() : pauses.watch(account, () => clock.now(), make);
      return await untilAborted(signal, made, abortError);
    } catch (error) {
      if (error instanceof ChatSdkCallError) throw error;
      if (signal.aborted) throw new ChatSdkCallError(method, { kind: "unknown", code: "timed-out" });
      const failure = classify(error, logged, method, threadId !== chatId);
      throw new ChatSdkCallError(method, await installations.refused(chatId, threadId, failure));
    }
  };
  return {
    provider: settings.provider,
    capabilities: {
      edit: capabilities.canEditMessages,
      remove: profile.canRemoveMessages ?? true,
      typing: typing !== "none",
      buttons: capabilities.supportsActions,
      linkButtons: profile.hasLinkButtons ?? true,
      ...(buttonLimits !== undefined && { buttonLimits }),
      // Adapters answer a press when it arrives. They cannot show a note later.
      privateWords: profile.whisper === undefined && adapter.postEphemeral === undefined ? "none" : "message",
      ...(settings.files !== undefined && { files: settings.files }),
    },
    format: markup,
    ...(cardMarkup !== undefined && { cardFormat: cardMarkup }),
    limits,
    ...(profile.maxCaptionLength !== undefined && {
      captionLimits: { ...limits, maxLength: Math.min(profile.maxCaptionLength, limits.maxLength) },
    }),
    pacing: settings.pacing,
    ...(profile.limitsAccount === true && { accountOf }),
    ...(profile.numbersThreads === true && { numbersThreads: true }),
    typingLastsMs: typing === "none" ? 5000 : typing.lastsMs,
    ...(profile.mode !== undefined && { mode: profile.mode }),
    ...(profile.editEveryMs !== undefined && { editEveryMs: profile.editEveryMs }),

    async post(address, message, { onSent, openFile, placeholder, signal }) {
      const files = await readFiles(message.files, openFile).catch(() => {
        throw new ChatSdkCallError("post", { kind: "rejected", code: "file-unreadable", about: "file" });
      });
      const messageId = await call("post", address, signal, async (to, threadId) => {
        if (placeholder !== undefined && profile.fillPlaceholder !== undefined) {
          const filling = { token: placeholder.token, message: toPostable(message, abilities), files };
          return profile.fillPlaceholder(filling, to, { fetch, signal });
        }
        if (files.length > 0 && profile.postFiles !== undefined) {
          const options = { clock, fetch, kept, newId, signal, ...(onSent !== undefined && { onSent }) };
          const kinds = message.files?.map(({ kind }) => kind) ?? [];
          const { chatId } = address;
          return profile.postFiles({ chatId, threadId, text: message.text, files, kinds }, to, options);
        }
        const postable = toPostable(message, abilities, files);
        const { post } = profile;
        const send = async (): Promise<string> => {
          if (files.length === 0 && post !== undefined)
            return post({ threadId, message: postable, isQuestion: message.isCard === true }, to);
          return (await to.postMessage(threadId, postable)).id;
        };
        if (templates === undefined) return withPostKey(message.key, send);
        const { state } = await ready();
        const isClosed = (error: unknown): boolean =>
          classify(error, { error: undefined }, "post", false).code === WINDOW_CLOSED;
        const known = { now: clock.now(), state };
        const { chatId } = address;
        return withPostKey(message.key, () =>
          templates.post({ chatId, text: message.text, threadId }, to, known, send, isClosed),
        );
      }).catch((error: unknown) => {
        if (placeholder !== undefined && error instanceof ChatSdkCallError)
          throw new ChatSdkCallError("post", fillingFailure(error.failure, placeholder, clock.now()));
        throw files.length > 0 ? aboutFiles(error) : error;
      });
      return { messageId };
    },
    ...(profile.removePlaceholder !== undefined && {
      async removePlaceholder(placeholder, { signal }) {
        await profile.removePlaceholder?.(placeholder.token, adapter, { fetch, signal }).catch((error) => {
          const failure = classify(error, { error: undefined }, "remove", false);
          throw new ChatSdkCallError("remove", fillingFailure(failure, placeholder, clock.now()));
        });
      },
    }),
    async edit(address, messageId, message, { signal }) {
      await call("edit", address, signal, (to, threadId) =>
        to.editMessage(threadId, messageId, toPostable(message, abilities)),
      );
    },
    async remove(address, messageId, { signal }) {
      await call("remove", address, signal, (to, threadId) => to.deleteMessage(threadId, messageId));
    },
    async typing(address, { signal }) {
      await call("typing", address, signal, (to, threadId) =>
        profile.startTyping === undefined
          ? to.startTyping(threadId)
          : profile.startTyping(to, newest.get(address.threadId)),
      );
    },
    async answerAction(address, press, notice, { signal }) {
      if (notice === undefined) return;
      await call("answer", address, signal, async (to, threadId) => {
        const { whisper = postEphemeral } = profile;
        const text = markup.escape(notice.text, true);
        await whisper({ threadId, press, text, isMarkdown: takesMarkdown }, to, { fetch, signal });
      });
    },
    ...(search !== undefined && {
      search: {
        ...(search.repeatableForMs !== undefined && { repeatableForMs: search.repeatableForMs }),
        find: (address, lost, { signal }) =>
          call("find", address, signal, (to, threadId) =>
            search.find(to, threadId, lost, async (key) => reportedId((await ready()).state, key)),
          ),
      },
    }),
    classifyError: (error) =>
      error instanceof ChatSdkCallError
        ? error.failure
        : classify(error, { error: undefined }, "post", false),
  };
}

/** The platform may get the answer before it shows the placeholder. */
const SHOWN_WITHIN_MS = 5000;

/** A place that does not exist is the placeholder's, and says nothing about the chat. */
function fillingFailure(failure: CallFailure, { shownAt }: Placeholder, now: number): CallFailure {
  switch (failure.kind) {
    case "gone":
    case "missing":
      return now < shownAt + SHOWN_WITHIN_MS
        ? { kind: "transient", code: "placeholder-not-shown" }
        : { kind: "missing", code: "placeholder-gone" };
    default:
      return failure;
  }
}

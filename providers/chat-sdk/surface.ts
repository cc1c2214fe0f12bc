import { abortError, untilAborted } from "../../src/core/until-aborted.ts";
import type { Adapter } from "chat";
import type { CallFailure, Surface } from "../../src/core/surface.ts";
import { type CallMethod, ChatSdkCallError, adapterFailure } from "./call-error.ts";
import { toPostable } from "./postable.ts";
import { readFiles } from "./read-files.ts";
import type { ChatSdkSettings } from "./options.ts";

/**
 * Creates a surface from any Chat SDK adapter. `ready` initializes the adapter before its first call. If it fails, the
 * call was certainly not made.
 */
export function createChatSdkSurface(settings: ChatSdkSettings, ready: () => Promise<void>): Surface {
  const { adapter, capabilities } = settings;
  const call = async <Result>(
    method: CallMethod,
    signal: AbortSignal,
    run: (adapter: Adapter) => Promise<Result>,
  ): Promise<Result> => {
    try {
      // Adapters take no signal, so a call goes on, and its late outcome is dropped.
      await untilAborted(signal, ready(), abortError);
    } catch {
      throw new ChatSdkCallError("initialize", { kind: "transient", code: "not-initialized" });
    }
    try {
      return await untilAborted(signal, run(adapter), abortError);
    } catch (error) {
      throw new ChatSdkCallError(
        method,
        signal.aborted ? { kind: "unknown", code: "timed-out" } : adapterFailure(method, error),
      );
    }
  };
  return {
    provider: settings.provider,
    capabilities: {
      edit: capabilities.canEditMessages,
      remove: true,
      typing: true,
      buttons: capabilities.supportsActions,
      // Adapters answer a press when it arrives. They cannot show a notice later.
      notices: false,
      ...(settings.files !== undefined && { files: settings.files }),
    },
    format: "markdown",
    limits: { maxLength: capabilities.maxMessageLength, maxEntities: Infinity },
    pacing: settings.pacing,
    typingLastsMs: 5000,

    async post(address, message, { openFile, signal }) {
      const files = await readFiles(message.files, openFile).catch(() => {
        throw new ChatSdkCallError("post", { kind: "rejected", code: "file-unreadable", about: "file" });
      });
      const posted = await call("post", signal, (to) =>
        to.postMessage(address.threadId, toPostable(message, capabilities, files)),
      );
      return { messageId: posted.id };
    },
    async edit(address, messageId, message, { signal }) {
      await call("edit", signal, (to) =>
        to.editMessage(address.threadId, messageId, toPostable(message, capabilities)),
      );
    },
    async remove(address, messageId, { signal }) {
      await call("remove", signal, (to) => to.deleteMessage(address.threadId, messageId));
    },
    async typing(address, { signal }) {
      await call("typing", signal, (to) => to.startTyping(address.threadId));
    },
    answerAction: () => Promise.resolve(),
    classifyError: classifyChatSdkError,
  };
}

/** Classifies any value. An error that no call of this surface threw is `unknown`, unless its fields say more. */
export function classifyChatSdkError(error: unknown): CallFailure {
  return error instanceof ChatSdkCallError ? error.failure : adapterFailure("post", error);
}

import type { RichText } from "../../../src/core/message/rich-text.ts";
import type {
  Address,
  CallFailure,
  Drafts,
  NativeStream,
  PostedMessage,
  Probing,
  Surface,
} from "../../../src/core/chat/surface.ts";
import { DRAFT_LASTS_MS, LIMITS, PlatformRefusal } from "../../../lab/simulation/platform/platform.ts";
import type { Platform } from "../../../lab/simulation/platform/platform.ts";
import { classifyError as classifyRefusal } from "../../../lab/simulation/platform/call-errors.ts";
import type { ScheduledFault } from "./schedule.ts";

/** What stands between the bot and the modelled platform. */
export interface FaultyLine {
  readonly platform: Platform;
  /** What the next calls meet, one each. */
  readonly faults: ScheduledFault[];
  /** A call that its object must not survive: the test kills it. */
  doomed: Address | undefined;
  /** What was called, in order; of every call also where. */
  readonly calls: { readonly method: LineMethod; readonly address: Address }[];
  readonly defect: ScheduleDefect | undefined;
}

export type LineMethod = "post" | "edit" | "remove" | "draft" | "probe" | "begin" | "append" | "end";

/**
 * A deliberate defect.
 *
 * - `blind`: a post without an answer counts as not made
 * - `late-draft`: a draft is shown once more after the message that it became
 * - `open-stream`: a stream is never ended
 */
export type ScheduleDefect = "blind" | "late-draft" | "open-stream";

class Refused extends Error {}
class Cut extends Error {}

/** The modelled platform of the simulation as an object in workerd calls it. */
export function createFaultySurface(line: FaultyLine): Surface {
  const { platform } = line;
  const call = async <Value>(method: LineMethod, address: Address, act: () => Value): Promise<Value> => {
    line.calls.push({ method, address });
    const fault = line.faults.shift();
    const done = (): Value => {
      platform.admit(address);
      return act();
    };
    await Promise.resolve();
    switch (fault?.kind) {
      case undefined:
        return done();
      case "refused":
        throw new Refused("refused");
      case "flood":
        return platform.penalize(address.chatId, fault.retryAfterS);
      case "lost":
        if (fault.done) done();
        throw new Cut("cut");
      case "dies":
        if (fault.done) done();
        line.doomed = address;
        return new Promise<never>(() => {});
      default:
        return fault satisfies never;
    }
  };
  const put = (address: Address, message: RichText, isStreaming: boolean): PostedMessage => ({
    messageId: String(platform.post(address, plain(message), line.calls.length, isStreaming)),
  });
  /** What shows the newest draft of each thread. */
  const shown = new Map<string, () => void>();

  const drafts = (): Drafts => ({
    lastsMs: DRAFT_LASTS_MS,
    show: (address, draft) => {
      const show = (): void => platform.showDraft(address, draft.id, plain(draft));
      shown.set(address.threadId, show);
      return call("draft", address, show);
    },
  });

  const stream = (): NativeStream => ({
    begin: (address, message) => call("begin", address, () => put(address, message, true)),
    append: (address, messageId, more) =>
      call("append", address, () => platform.append(address, messageId, plain(more))),
    end: (address, messageId) =>
      call("end", address, () => {
        if (line.defect !== "open-stream") platform.endStream(address, messageId);
      }),
  });

  const probing = (): Probing => ({
    box: ({ chatId }) => platform.boxOf(chatId),
    probe: async (address, messageId) => {
      try {
        return await call("probe", address, () => platform.probe(address, messageId));
      } catch (error) {
        const kind = error instanceof PlatformRefusal ? error.refusal.kind : undefined;
        if (kind === "not-modified") return "own";
        if (kind === "not-found") return "other";
        throw error;
      }
    },
  });

  const rate = { burst: 3, everyMs: 1_000 };
  return {
    provider: "fake",
    capabilities: { edit: true, remove: true, typing: false, buttons: false },
    format: "telegram-entities",
    limits: LIMITS,
    pacing: { direct: rate, group: rate, global: { burst: 30, everyMs: 34 } },
    typingLastsMs: 5_000,
    post: async (address, message) => {
      const posted = await call("post", address, () => put(address, message, false));
      const again = line.defect === "late-draft" ? shown.get(address.threadId) : undefined;
      if (again !== undefined) await call("draft", address, again);
      return posted;
    },
    edit: (address, messageId, message) =>
      call("edit", address, () => platform.edit(address, messageId, plain(message))),
    remove: (address, messageId) => call("remove", address, () => platform.remove(address, messageId)),
    typing: () => Promise.resolve(),
    answerAction: () => Promise.resolve(),
    ...(platform.kind === "streams" ? { stream: stream() } : { drafts: drafts(), probing: probing() }),
    classifyError: (error): CallFailure =>
      error instanceof Refused || (error instanceof Cut && line.defect === "blind")
        ? { kind: "transient", code: "refused" }
        : classifyRefusal(error),
  };
}

function plain({ text, entities }: RichText): RichText {
  return { text, entities };
}

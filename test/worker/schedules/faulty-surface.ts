import type { RichText } from "../../../src/core/rich-text.ts";
import type { Address, CallFailure, Surface } from "../../../src/core/surface.ts";
import { DRAFT_LASTS_MS, LIMITS, PlatformRefusal } from "../../simulation/platform.ts";
import type { Platform } from "../../simulation/platform.ts";
import { classifyError as classifyRefusal } from "../../simulation/platform-surface.ts";
import type { ScheduledFault } from "./schedule.ts";

/** What stands between the bot and the modelled platform. */
export interface FaultyLine {
  readonly platform: Platform;
  /** What the next calls meet, one each. */
  readonly faults: ScheduledFault[];
  /** A call that its object must not survive: the test kills it. */
  doomed: Address | undefined;
  calls: number;
  /** A deliberate defect: a post without an answer counts as not made. */
  readonly isBlind: boolean;
}

class Refused extends Error {}
class Cut extends Error {}

/** The modelled platform of the simulation as an object in workerd calls it. */
export function createFaultySurface(line: FaultyLine): Surface {
  const { platform } = line;
  const call = async <Value>(address: Address, act: () => Value): Promise<Value> => {
    line.calls += 1;
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
  const rate = { burst: 3, everyMs: 1_000 };
  return {
    provider: "fake",
    capabilities: { edit: true, remove: true, typing: false, buttons: false },
    format: "telegram-entities",
    limits: LIMITS,
    pacing: { direct: rate, group: rate, global: { burst: 30, everyMs: 34 } },
    typingLastsMs: 5_000,
    post: (address, message) =>
      call(address, () => ({ messageId: String(platform.post(address, plain(message), line.calls)) })),
    edit: (address, messageId, message) =>
      call(address, () => platform.edit(address, messageId, plain(message))),
    remove: (address, messageId) => call(address, () => platform.remove(address, messageId)),
    typing: () => Promise.resolve(),
    answerAction: () => Promise.resolve(),
    drafts: {
      lastsMs: DRAFT_LASTS_MS,
      show: (address, draft) => call(address, () => platform.showDraft(address, draft.id, plain(draft))),
    },
    probing: {
      box: ({ chatId }) => platform.boxOf(chatId),
      probe: async (address, messageId) => {
        try {
          return await call(address, () => platform.probe(address, messageId));
        } catch (error) {
          const kind = error instanceof PlatformRefusal ? error.refusal.kind : undefined;
          if (kind === "not-modified") return "own";
          if (kind === "not-found") return "other";
          throw error;
        }
      },
    },
    classifyError: (error): CallFailure =>
      error instanceof Refused || (error instanceof Cut && line.isBlind)
        ? { kind: "transient", code: "refused" }
        : classifyRefusal(error),
  };
}

function plain({ text, entities }: RichText): RichText {
  return { text, entities };
}

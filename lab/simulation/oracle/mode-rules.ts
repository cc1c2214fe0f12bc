import { limitsWithRoom, resentMark } from "../../../delivery/outbox/resent-mark.ts";
import { splitText } from "../../../delivery/text/split/index.ts";
import { plainText, richWhereItShows, telegramEntities } from "../../../delivery/text/render/index.ts";
import { draftIdOf } from "../../../delivery/modes/draft-id.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { Part } from "../../../delivery/text/split/index.ts";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import type { SaidReply, SurfaceCall } from "./contract.ts";
import type { PlatformKind } from "../plan/plan.ts";
import { LIMITS, RICH } from "../platform/platform.ts";
import { stripMark } from "./visible-text.ts";

export interface ModeQuestion {
  readonly call: SurfaceCall;
  readonly reply: SaidReply;
  /** The requested mode. */
  readonly mode: DeliveryMode;
  readonly platform: PlatformKind;
  readonly wereDraftsRefused: boolean;
  /** Whether rich messages are requested. */
  readonly isRich: boolean;
}

/** Returns a text as the platform's parts, with blocks where they show more, if these are requested. */
export function partsOf(
  text: string,
  platform: PlatformKind,
  final: boolean,
  isRich = false,
): readonly Part<RichText>[] {
  const mark = resentMark({});
  const renderer = platform === "fixed" ? plainText : telegramEntities;
  const limits = limitsWithRoom(LIMITS, mark);
  if (!isRich) return splitText(text, { renderer, limits, final });
  const { maxLength, maxEntities } = limitsWithRoom(RICH.limits, mark);
  return splitText(text, {
    renderer: richWhereItShows(renderer, limits),
    // The mark is a block.
    limits: { maxLength, maxEntities: maxEntities - 1 },
    final,
  });
}

/** Whether a message shows a part of a complete text. */
export function isPartOf(
  text: string,
  shown: string,
  { platform, isRich }: Pick<ModeQuestion, "platform" | "isRich">,
): boolean {
  const plans = [partsOf(text, platform, false)];
  if (isRich) plans.push(partsOf(text, platform, false, true));
  return plans.flat().some((part) => part.content.text === stripMark(shown));
}

/**
 * Returns the problem of a call that shows more than its mode allows. Every mode shows at most a prefix of the current
 * attempt:
 *
 * - `edit`, `native`: the whole text so far
 * - `draft`: messages are complete parts; the rest is shown as drafts until the text is complete
 * - `buffered`: complete parts
 * - `final-only`: nothing
 */
export function modeProblem(question: ModeQuestion): string | undefined {
  const { call, reply, mode, platform, wereDraftsRefused } = question;
  const isDraft = call.method === "draft";
  if (isDraft && (draftIdOf(reply.id) !== call.draftId || reply.isNotice))
    return "is the draft of another reply";
  if (isDraft && reply.isFinal) return "is the draft of a text that is whole";
  if (reply.isFinal) return undefined;
  switch (mode) {
    case "edit":
      return platform === "fixed" ? growingMessage(question) : undefined;
    case "native":
      return undefined;
    case "draft": {
      const isUsual = platform === "telegram" && call.address.isDirectMessage && !wereDraftsRefused;
      // An existing message (of a reply that was taken over, or from before a restart) keeps growing.
      return isUsual && call.method === "post" && reply.takesOver === undefined
        ? growingMessage(question)
        : undefined;
    }
    case "buffered":
      return growingMessage(question);
    case "final-only":
      return "shows a text that is not whole";
    default:
      return mode satisfies never;
  }
}

/** Returns the problem of a message that is not a complete part. A complete part never changes when the text grows. */
function growingMessage({ call, reply, platform, isRich }: ModeQuestion): string | undefined {
  const shown = stripMark(call.content?.text ?? "");
  const plans = [partsOf(reply.text, platform, false)];
  if (isRich) plans.push(partsOf(reply.text, platform, false, true));
  const isComplete = plans.flat().some((part) => part.complete && part.content.text === shown);
  return isComplete ? undefined : "shows a part that is not complete";
}

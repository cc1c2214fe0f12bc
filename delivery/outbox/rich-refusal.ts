import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import type { RichText } from "../../src/core/message/rich-text.ts";
import type { CallFailure, Surface } from "../../src/core/chat/surface.ts";

/** Tells whether a reply is planned as rich messages. A platform that streams gets text. */
export function isRich(policy: ReplyPolicy, surface: Surface): boolean {
  return policy.richMessages === true && surface.rich !== undefined && surface.stream === undefined;
}

/** Tells whether the platform refused the message because it is rich. */
export function isRichRefusal(content: RichText | undefined, { kind }: CallFailure): boolean {
  return content?.blocks !== undefined && kind === "rejected";
}

/** Tells whether a server in front of the platform may not know rich messages. */
export function isRichDoubt(
  { rich }: Surface,
  content: RichText | undefined,
  { kind, code }: CallFailure,
): boolean {
  return content?.blocks !== undefined && kind === "unknown" && code === rich?.doubtfulCode;
}

/**
 * Tells whether the platform itself refused a rich message. For any other reason a draft may be refused although a
 * message is accepted.
 */
export function isAboutRich({ rich }: Surface, { code }: CallFailure): boolean {
  return code === rich?.unsupportedCode || code === rich?.refusedCode;
}

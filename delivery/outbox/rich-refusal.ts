import type { ReplyPolicy } from "../../src/core/delivery.ts";
import type { RichText } from "../../src/core/rich-text.ts";
import type { CallFailure, Surface } from "../../src/core/surface.ts";

/** Whether a reply is planned as rich messages. What a platform streams by itself is text. */
export function isRich(policy: ReplyPolicy, surface: Surface): boolean {
  return policy.richMessages === true && surface.rich !== undefined && surface.stream === undefined;
}

/** Whether it is the form of the message that was refused. */
export function isRichRefusal(content: RichText | undefined, { kind }: CallFailure): boolean {
  return content?.blocks !== undefined && kind === "rejected";
}

/** Whether it may be the form of the message that something in front of the platform does not know. */
export function isRichDoubt(
  { rich }: Surface,
  content: RichText | undefined,
  { kind, code }: CallFailure,
): boolean {
  return content?.blocks !== undefined && kind === "unknown" && code === rich?.doubtfulCode;
}

/** Whether the platform itself says so: whatever else a draft is refused for, a message may be taken. */
export function isAboutRich({ rich }: Surface, { code }: CallFailure): boolean {
  return code === rich?.unsupportedCode || code === rich?.refusedCode;
}

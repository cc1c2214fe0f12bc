import { sayIn } from "../../core/bot-texts.ts";
import type { Say } from "../../core/bot-texts.ts";
import type { MessengerAuthor } from "../../core/messenger-event.ts";
import type { ApprovalMethods } from "../rules/bot-methods.ts";

/** Returns the texts of the bot in the language of a person. */
export function sayTo(
  { texts = {} }: Pick<ApprovalMethods, "texts">,
  person: MessengerAuthor | undefined,
): Say {
  return sayIn(texts, person?.language);
}

import { sayIn } from "../../core/bot-texts.ts";
import type { Say } from "../../core/bot-texts.ts";
import type { ScheduleMethods } from "../rules/bot-methods.ts";

/** Returns the texts of the bot in the language of a person. */
export function sayTo(
  { texts = {} }: Pick<ScheduleMethods, "texts">,
  person: { readonly language?: string | undefined } | undefined,
): Say {
  return sayIn(texts, person?.language);
}

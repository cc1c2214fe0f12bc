import type { DeliveryPolicy } from "../../core/chat/delivery.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { TurnOutcome } from "../../turn/turn-engine-options.ts";
import { joinParagraphs } from "../../outgoing/index.ts";
import { plainText, splitText } from "../../../delivery/index.ts";
import { safeText } from "../declare/texts.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { replyFilter } from "../replies/reply-filter.ts";

export type EndedOperation = Exclude<TurnOutcome, { kind: "open" | "unknown" }>;

/** An ended turn. `out-of-steps` means that it has used all its steps, and the model wanted to go on. */
export type EndedTurn = EndedOperation | { readonly kind: "out-of-steps"; readonly text: string };

/** Endings without text that show nothing, instead of a text that says so. */
export interface Silence {
  /** The model had nothing to say. */
  readonly onEmpty: boolean;
  /** The model failed. */
  readonly onFailure: boolean;
}

/**
 * Returns the final text for the person. It never has an error's own words. It is empty only if the turn may end in
 * silence.
 */
export function visibleText(
  outcome: EndedTurn,
  policy: DeliveryPolicy,
  event: MessengerEvent | undefined,
  log: Log,
  silence: Silence = { onEmpty: false, onFailure: false },
): string {
  const said = showsNothing(outcome.text) ? "" : outcome.text;
  const instead = (name: SafeText): string => {
    const isSilent = name === "emptyResponseText" ? silence.onEmpty : silence.onFailure;
    return isSilent ? "" : safeText(policy, name, event, log);
  };
  switch (outcome.kind) {
    case "done":
      return said === "" ? instead("emptyResponseText") : said;
    case "out-of-steps":
      return joinParagraphs(said, instead("stepLimitResponseText"));
    case "stopped":
      return joinParagraphs(said, safeText(policy, "stoppedResponseText", event, log));
    case "failed":
      if (outcome.instead !== undefined)
        return said === "" && silence.onFailure ? "" : joinParagraphs(said, outcome.instead);
      return said === ""
        ? instead(outcome.isOverloaded === true ? "overloadedResponseText" : "errorResponseText")
        : joinParagraphs(said, safeText(policy, "interruptedResponseText", event, log));
  }
}

/** Tells whether a text has nothing to read: it is blank, or markup without words, such as an empty code block. */
function showsNothing(text: string): boolean {
  const trimmed = text.trim();
  // A text that begins with a word is a paragraph, so for most texts the markup need not be parsed.
  if (trimmed === "" || /^[\p{L}\p{N}]/u.test(trimmed)) return trimmed === "";
  const limits = { maxLength: 4096, maxEntities: Infinity };
  return splitText(text, { renderer: plainText, limits, final: true }).length === 0;
}

/** Returns the text of a model as a messenger shows it. Empty if the model chose silence, or had nothing to say. */
export function answerText(definition: NormalizedMessengerDefinition, text: string, log: Log): string {
  const nobody = { append: () => {}, replace: () => {}, interrupt: () => {} };
  const filtered = replyFilter(definition, undefined, nobody, log).finish(text);
  if (filtered.kind === "silent") return "";
  const silence = { onEmpty: true, onFailure: true };
  return visibleText(
    { kind: "done", text: filtered.text },
    definition.delivery ?? {},
    undefined,
    log,
    silence,
  );
}

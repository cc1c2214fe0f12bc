import type { Log } from "../../core/log.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { replyFilter } from "../replies/reply-filter.ts";
import { visibleText } from "./visible-text.ts";

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

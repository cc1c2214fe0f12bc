import type { Json } from "../../core/message/content.ts";
import type { Say } from "../../core/text/bot-texts.ts";
import type { Approval, EditedInput } from "./approval.ts";
import { inputFields } from "./input-fields.ts";
import { nameOf } from "./outcome-words.ts";

/** The names of the people who have changed an input. */
export function editorNames({ by }: Pick<EditedInput, "by">): string {
  return by.flatMap(({ person }) => (person === undefined ? [] : [nameOf(person)])).join(", ");
}

/** Says for people what was changed, without the values of `sensitive` paths. */
export function changesInWords(
  { edited, input, labels, sensitive }: Pick<Approval, "edited" | "input" | "labels" | "sensitive">,
  say: Say,
): string {
  const fieldsOf = (of: Json): Map<string, string> =>
    new Map(inputFields(of, { labels, sensitive, say }).map(({ label, value }) => [label, value]));
  const before = fieldsOf(edited?.original ?? input);
  const after = fieldsOf(input);
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((label) => {
    const [from = "–", to = "–"] = [before.get(label), after.get(label)];
    return from === to ? [] : [`${label}: ${from} → ${to}`];
  });
  return changes.length === 0 ? "•••" : changes.join(" · ");
}

import type { Json } from "../../core/message/content.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Approval } from "./approval.ts";
import { isList, maskedInput } from "./input-fields.ts";

/**
 * Says for the model what was changed, and by whom. A model may repeat what it reads, so it does not get values of
 * `sensitive` paths that it did not write.
 */
export function changesForModel({
  edited,
  input,
  sensitive,
}: Pick<Approval, "edited" | "input" | "sensitive">): string {
  if (edited === undefined) return "";
  const partsOf = (of: Json): Readonly<Record<string, Json>> =>
    typeof of === "object" && of !== null && !isList(of) ? of : { input: of };
  const [before, after] = [partsOf(edited.original), partsOf(input)];
  const shown = partsOf(maskedInput(input, sensitive));
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => textOf(before[key]) !== textOf(after[key]))
    .map((key) =>
      textOf(shown[key]) === textOf(after[key])
        ? `${key} from ${textOf(before[key])} to ${textOf(after[key])}`
        : `${key} to a value that is not shown`,
    );
  const names = edited.by.map(({ person }) => nameOfEditor(person)).join(", ");
  return changes.length === 0 ? "" : ` ${names} had changed your input: ${changes.join(", ")}.`;
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value) ?? "nothing";
}

function nameOfEditor(person: MessengerAuthor | undefined): string {
  return person?.fullName ?? person?.userName ?? person?.userId ?? "Somebody";
}

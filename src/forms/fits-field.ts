import type { Json } from "../core/message/content.ts";
import { isObject } from "./json-schema.ts";
import type { FormField } from "./form.ts";

/** Whether a value has the kind of a field, so that it can be shown and kept. Its limits are not checked. */
export function fitsField(field: FormField, value: Json): boolean {
  switch (field.kind) {
    case "choice":
      return field.options.some((option) => option.value === value);
    case "number":
      return typeof value === "number";
    case "file":
    case "photo":
      return isObject(value) && typeof value["messengerId"] === "string";
    case "place":
      return (
        isObject(value) && typeof value["latitude"] === "number" && typeof value["longitude"] === "number"
      );
    default:
      return typeof value === "string";
  }
}

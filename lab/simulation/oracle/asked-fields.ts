import type { Life } from "../machine/life.ts";
import { FIELDS } from "./ask-one.ts";
import { placeOf } from "./form-face.ts";
import type { FormFace } from "./form-face.ts";

interface PressedFace {
  readonly face: Pick<FormFace, "cardId" | "field" | "kind">;
  readonly label: string;
  /** The process in which the press has led to a field. */
  usedBy: Life | undefined;
}

/**
 * A form asks for a field once. It asks again only where a press leads: back, on, or to a field that should change (I14).
 * If a process dies after it has shown a field, the field may be shown again for the same press.
 */
export class AskedFields {
  /** The field that each question asks for now at each place, or the kind of its card. */
  readonly #now = new Map<string, string>();
  readonly #presses: PressedFace[] = [];

  pressed(face: PressedFace["face"], label: string): void {
    this.#presses.push({ face, label, usedBy: undefined });
  }

  /** Whether a card asks for a field that has a value, and no press has led there. */
  isAskedAgain({ cardId, field, kind }: FormFace, hasValue: boolean, life: Life): boolean {
    if (kind === "over") return false;
    const asks = kind === "field" ? field : kind;
    const place = placeOf(cardId);
    if (this.#now.get(place) === asks) return false;
    this.#now.set(place, asks);
    if (field === "" || !hasValue) return false;
    const press = this.#presses.find(
      ({ face, label, usedBy }) =>
        placeOf(face.cardId) === place && usedBy?.isDead !== false && leadsTo(field, face, label),
    );
    if (press === undefined) return true;
    press.usedBy = life;
    return false;
  }
}

/** Whether a button of a card leads to a field. */
function leadsTo(field: string, face: PressedFace["face"], label: string): boolean {
  const [asked, wanted] = [FIELDS.indexOf(face.field), FIELDS.indexOf(field)];
  if (face.kind === "change") return label.startsWith(field);
  if (label === "Back") return face.kind === "summary" || asked === wanted + 1;
  return label.startsWith("Keep ") && asked === wanted - 1;
}

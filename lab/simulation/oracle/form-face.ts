import type { CardBody } from "../../../src/core/chat/delivery.ts";
import { FIELDS } from "./ask-one.ts";
import { labelsOf } from "./card-watch.ts";

/** One state of the card of a question. */
export interface FormFace {
  /** Words of the question, such as `Question0 about effect3`. */
  readonly question: string;
  readonly cardId: string;
  readonly kind: "field" | "summary" | "change" | "over";
  /** Name of the field that is asked. Empty for the only one. */
  readonly field: string;
  readonly labels: readonly string[];
  /** The values that the card shows, by the names of their fields. */
  readonly values: ReadonlyMap<string, string>;
}

export const QUESTION = /\bQuestion\d about effect\d+\b/;
const ASKED = new RegExp(`\\*\\*(${FIELDS.join("|")})\\d effect\\d+\\*\\*`);
const LABEL = new RegExp(`^(${FIELDS.join("|")})\\d effect\\d+$`);
/** A card above the message that has answered its field. */
export const LEFT = new RegExp(`\\*\\*(${FIELDS.join("|")})\\d effect\\d+:\\*\\* (.*)`);

/** The id of the question of a card. */
export function idOf(cardId: string): string | undefined {
  return /^question:([^:]+):/.exec(cardId)?.[1];
}

/** The question of a card, and the place at which it asks. */
export function placeOf(cardId: string): string {
  return /^question:[^:]+:\d+/.exec(cardId)?.[0] ?? "";
}

/** How many cards of a form are above this one. */
export function numberOf(cardId: string): number {
  return Number(/^question:[^:]+:\d+:(\d+)$/.exec(cardId)?.[1] ?? 0);
}

export function faceOf(question: string, cardId: string, { buttons, fields = [], text }: CardBody): FormFace {
  const labels = labelsOf(buttons);
  const [, field = ""] = ASKED.exec(text) ?? [];
  const values = new Map(fields.map(({ label, value }) => [LABEL.exec(label)?.[1] ?? "", value]));
  const isChange = text.includes("What would you like to change?");
  const kind =
    labels.length === 0 ? "over" : labels.includes("Send") ? "summary" : isChange ? "change" : "field";
  return { question, cardId, kind, field, labels, values };
}

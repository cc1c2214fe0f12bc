import type { CardContent, CardField } from "../core/message/content.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { formLayout, isAskable } from "./form-layout.ts";
import type { Form, FormContext, FormField, FormState } from "./form.ts";
import { valueOf } from "./form-places.ts";
import { fieldHint } from "./field-hint.ts";
import { shownValue } from "./shown-value.ts";

/** With more fields each value gets less room, so that a summary stays a message. */
const LONGEST_VALUE = 600;
const LONGEST_OF_MANY = 120;
const MANY = 8;

/** Returns the card of a form as it is now. After the end it has no buttons, and shows the answers. */
export function formCard(form: Form, state: FormState, context: FormContext): CardContent {
  const { message, say } = context;
  const { rows, words } = formLayout(form, state, context);
  const lines = [
    message.trim(),
    ...placeLines(form, state, context),
    ...(words.length === 0
      ? []
      : [escapeMarkdown(say("formWords", { words: words.map(({ text }) => `“${text}”`).join(", ") }))]),
    ...(state.problem === undefined ? [] : [`⚠️ ${escapeMarkdown(state.problem)}`]),
  ];
  const fields = state.at.kind === "field" || state.at.kind === "change" ? [] : answers(form, state, context);
  const text = lines.filter((line) => line !== "").join("\n\n");
  return {
    kind: "card",
    text: text === "" && fields.length === 0 ? "…" : text,
    ...(fields.length > 0 && { fields }),
    ...(rows.length > 0 && { buttons: rows }),
  };
}

/** Returns what is left of a card when a message has answered its field, and the form goes on below. */
export function answeredCard(field: FormField, state: FormState, context: FormContext): CardContent {
  const value = valueOf(field, state);
  const words = value === undefined ? "–" : shownValue(field, value, context);
  const answer = `**${escapeMarkdown(field.label)}:** ${escapeMarkdown(clipped(words, LONGEST_VALUE))}`;
  return { kind: "card", text: [context.message.trim(), answer].filter((line) => line !== "").join("\n\n") };
}

function placeLines(form: Form, { at }: FormState, context: FormContext): string[] {
  const { say } = context;
  switch (at.kind) {
    case "summary":
      return [escapeMarkdown(say("formSummary"))];
    case "change":
      return [escapeMarkdown(say("formWhichField"))];
    case "field": {
      const field = form.fields[at.index];
      return field === undefined ? [] : fieldLines(form, field, at.index, context);
    }
    default:
      return [];
  }
}

function fieldLines(form: Form, field: FormField, index: number, context: FormContext): string[] {
  const { say } = context;
  const count = form.fields.length;
  const step = count > 1 ? ` (${say("formStep", { number: index + 1, count })})` : "";
  const title = field.label === "" ? "" : `**${escapeMarkdown(field.label)}**${escapeMarkdown(step)}`;
  const hint = isAskable(field, context) ? fieldHint(field, context) : say("formPrivateOnly");
  return [title, ...[field.help ?? "", hint].map((line) => escapeMarkdown(line))];
}

function answers(form: Form, state: FormState, context: FormContext): CardField[] {
  const most = form.fields.length > MANY ? LONGEST_OF_MANY : LONGEST_VALUE;
  return form.fields.flatMap((field): CardField[] => {
    const value = valueOf(field, state);
    const words = value === undefined ? "–" : shownValue(field, value, context);
    const label = field.label === "" ? context.say("formAnswerLabel") : field.label;
    // A form that was cancelled shows what it has heard until then.
    return value === undefined && state.at.kind !== "summary" ? [] : [{ label, value: clipped(words, most) }];
  });
}

function clipped(words: string, most: number): string {
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`;
}

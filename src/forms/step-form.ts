import type { SchemaIssue } from "../core/json/check-value.ts";
import { inOneLine } from "../core/text/one-line.ts";
import { fitsField } from "./fits-field.ts";
import { formLayout } from "./form-layout.ts";
import type {
  Form,
  FormContext,
  FormEvent,
  FormField,
  FormMessage,
  FormPress,
  FormState,
  FormStep,
  Reading,
} from "./form.ts";
import { askedAt, fieldPlace, formValue, nextOpen, placeKey, valueOf } from "./form-places.ts";
import { readAnswer } from "./read-answer.ts";
import { z } from "zod";

const formPress: z.ZodType<FormPress> = z.object({
  at: z.string(),
  do: z.enum(["pick", "keep", "skip", "back", "page", "send", "change", "cancel"]),
  index: z.int().nonnegative().exactOptional(),
});

const LONGEST_ISSUE = 300;

/** Returns the state after an event. Never throws. */
export function stepForm(form: Form, state: FormState, event: FormEvent, context: FormContext): FormStep {
  switch (event.kind) {
    case "press": {
      const press = parseFormPress(event.press);
      const isShown = press !== undefined && press.at === placeKey(state.at) && !isOver(state);
      return isShown ? pressed(form, state, press, context) : { state };
    }
    case "message":
      return written(form, state, event.message, context);
    case "refused":
      return refused(form, state, event.issues, context);
    default:
      return event satisfies never;
  }
}

/** Whether the form waits for nothing any more. A refusal of the schema opens it again. */
export function isOver({ at }: FormState): boolean {
  return at.kind === "sent" || at.kind === "cancelled";
}

/**
 * Returns what a message means as the answer to the field that is asked. Undefined if no field is asked. Changes
 * nothing, so whoever asks can tell first whether a message is an answer at all.
 */
export function readMessage(
  form: Form,
  state: FormState,
  message: FormMessage,
  context: FormContext,
): Reading | undefined {
  const field = askedAt(form, state);
  if (field === undefined) return undefined;
  if (field.isSensitive === true && !context.isPrivate)
    return { kind: "problem", problem: context.say("formPrivateOnly") };
  return readAnswer(field, message, context);
}

function written(form: Form, state: FormState, message: FormMessage, context: FormContext): FormStep {
  const word = message.text.trim().toLowerCase();
  const command = formLayout(form, state, context).words.find(({ text }) => text.toLowerCase() === word);
  if (command !== undefined) return pressed(form, state, command.press, context);
  const field = askedAt(form, state);
  const reading = readMessage(form, state, message, context);
  if (field === undefined || reading === undefined) return { state };
  if (reading.kind === "problem") return withProblem(state, reading.problem);
  return answered(form, state, field, reading.value);
}

function withProblem(state: FormState, problem: string): FormStep {
  return { state: { ...state, problem }, problem };
}

function answered(
  form: Form,
  before: FormState,
  field: FormField,
  value: FormState["values"][string],
): FormStep {
  const { problem: _, ...state } = before;
  return goOn(form, {
    ...state,
    values: { ...state.values, [field.name]: value },
    skipped: state.skipped.filter((name) => name !== field.name),
  });
}

/** Goes to the next field without an answer. The only field of a form ends it. */
function goOn(form: Form, state: FormState): FormStep {
  const index = state.at.kind === "field" ? state.at.index : -1;
  const next = { ...state, at: nextOpen(form, state, index) };
  return next.at.kind === "sent"
    ? { state: next, result: { kind: "send", value: formValue(form, next) } }
    : { state: next };
}

function pressed(form: Form, before: FormState, press: FormPress, context: FormContext): FormStep {
  const { problem: _, ...state } = before;
  const field = askedAt(form, state);
  const { at } = state;
  const page = press.index ?? 0;
  switch (press.do) {
    case "cancel":
      return { state: { ...state, at: { kind: "cancelled" } }, result: { kind: "cancel" } };
    case "back":
      return { state: { ...state, at: placeBefore(form, state) } };
    case "page":
      if (at.kind !== "field" && at.kind !== "change") return { state: before };
      return { state: { ...state, at: { ...at, page } } };
    case "change":
      return at.kind === "summary"
        ? { state: { ...state, at: { kind: "change", page: 0 } } }
        : { state: before };
    case "send":
      // The place is the summary only while every field has an answer.
      return at.kind === "summary" && nextOpen(form, state, -1).kind === "summary"
        ? {
            state: { ...state, at: { kind: "sent" } },
            result: { kind: "send", value: formValue(form, state) },
          }
        : { state: before };
    case "pick":
      if (at.kind === "change")
        return { state: form.fields[page] === undefined ? before : { ...state, at: fieldPlace(page) } };
      return picked(form, before, field, press, context);
    case "skip":
      if (field?.isOptional !== true) return { state: before };
      return goOn(form, {
        ...state,
        values: without(state.values, field.name),
        skipped: [...state.skipped.filter((name) => name !== field.name), field.name],
      });
    case "keep":
      return field === undefined ? { state: before } : kept(form, before, field, context);
    default:
      return press.do satisfies never;
  }
}

function picked(
  form: Form,
  state: FormState,
  field: FormField | undefined,
  { index = -1 }: FormPress,
  { isPrivate, say }: FormContext,
): FormStep {
  if (field?.kind !== "choice") return { state };
  if (field.isSensitive === true && !isPrivate) return withProblem(state, say("formPrivateOnly"));
  const option = field.options[index];
  return option === undefined ? { state } : answered(form, state, field, option.value);
}

/** Keeps the answer, or takes the default. */
function kept(form: Form, before: FormState, field: FormField, { isPrivate, say }: FormContext): FormStep {
  const { problem: _, ...state } = before;
  const value = valueOf(field, state);
  if (value === undefined) {
    if (field.default === undefined || !fitsField(field, field.default)) return { state: before };
    if (field.isSensitive === true && !isPrivate) return withProblem(before, say("formPrivateOnly"));
    return answered(form, before, field, field.default);
  }
  if (form.isSingle) return goOn(form, state);
  const index = state.at.kind === "field" ? state.at.index : -1;
  const isLast = index + 1 >= form.fields.length;
  return isLast ? goOn(form, state) : { state: { ...state, at: fieldPlace(index + 1) } };
}

function placeBefore(form: Form, { at }: FormState): FormState["at"] {
  if (at.kind === "change") return { kind: "summary" };
  if (at.kind === "summary") return fieldPlace(form.fields.length - 1);
  return at.kind === "field" ? fieldPlace(Math.max(0, at.index - 1)) : at;
}

function without(values: FormState["values"], name: string): FormState["values"] {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== name));
}

function refused(
  form: Form,
  state: FormState,
  issues: readonly SchemaIssue[],
  { say }: FormContext,
): FormStep {
  if (state.at.kind !== "sent") return { state };
  const [first] = issues;
  const index = form.isSingle ? 0 : form.fields.findIndex(({ name }) => name === first?.path[0]);
  const isSensitive = form.fields.some((field) => field.isSensitive === true);
  // A schema may repeat the value in its words.
  const words = isSensitive ? "" : inOneLine(first?.message ?? "").slice(0, LONGEST_ISSUE);
  const problem = words === "" ? say("formRefused") : words;
  const at: FormState["at"] = index === -1 ? { kind: "summary" } : fieldPlace(index);
  return withProblem({ ...state, at }, problem);
}

/** Returns the press of a button of a form's card. Undefined for anything else. */
function parseFormPress(press: unknown): FormPress | undefined {
  return formPress.safeParse(press).data;
}

import type { CallbackButton } from "../core/message/content.ts";
import { buttonRows } from "../core/chat/degrade.ts";
import { askedAt, placeKey, valueOf } from "./form-places.ts";
import type { ChoiceField, Form, FormContext, FormField, FormPress, FormState } from "./form.ts";
import { fitsField } from "./fits-field.ts";
import { optionLabel, shownValue } from "./shown-value.ts";

/** Most options on one page. */
const PAGE = 20;
/** Buttons beside the options: two for pages, and four that a field may have. */
const OTHERS = 6;
const LONGEST_LABEL = 64;
const LONGEST_KEPT = 24;

export interface FormLayout {
  /** Rows of buttons, from top to bottom. */
  readonly rows: readonly (readonly CallbackButton[])[];
  /**
   * Words that a person may write instead, where a card of a field would number its buttons: the numbers would look like
   * answers.
   */
  readonly words: readonly { readonly text: string; readonly press: FormPress }[];
}

type Choice = Omit<FormPress, "at"> & { readonly label: string };

/** Returns the ways on from the shown place: buttons, or words. */
export function formLayout(form: Form, state: FormState, context: FormContext): FormLayout {
  const key = placeKey(state.at);
  const rows = choicesOf(form, state, context).filter((row) => row.length > 0);
  const pressOf = ({ label: _, ...press }: Choice): FormPress => ({ at: key, ...press });
  const buttons = rows.map((row) =>
    row.map((choice): CallbackButton => ({
      kind: "callback",
      label: cut(choice.label, LONGEST_LABEL),
      payload: context.payloadOf(pressOf(choice)),
    })),
  );
  const field = askedAt(form, state);
  const { buttonLimits, buttons: hasButtons } = context.surface;
  const isNumbered = !hasButtons || buttonRows(buttons, buttonLimits, undefined) === undefined;
  if (field === undefined || field.kind === "choice" || !isNumbered) return { rows: buttons, words: [] };
  const words = rows.flat().map((choice) => ({ text: wordOf(choice, context), press: pressOf(choice) }));
  return { rows: [], words };
}

function wordOf({ do: what, label }: Choice, { say }: FormContext): string {
  return what === "keep" ? say("formKeepWord") : label.toLowerCase();
}

function choicesOf(form: Form, state: FormState, context: FormContext): Choice[][] {
  const { say } = context;
  const { at } = state;
  const cancel: Choice = { do: "cancel", label: say("formCancelButton") };
  const back: Choice = { do: "back", label: say("formBackButton") };
  switch (at.kind) {
    case "summary":
      return [
        [
          { do: "send", label: say("formSendButton") },
          { do: "change", label: say("formChangeButton") },
          cancel,
        ],
      ];
    case "change": {
      const fields = form.fields.map((field, index): Choice => ({ do: "pick", label: field.label, index }));
      return [...paged(fields, at.page, context), [back, cancel]];
    }
    case "field": {
      const field = form.fields[at.index];
      if (field === undefined) return [[cancel]];
      return [
        ...(field.kind === "choice" && isAskable(field, context) ? options(field, at.page, context) : []),
        keepRow(field, state, context),
        [
          ...(at.index > 0 ? [back] : []),
          ...(field.isOptional === true && field.default === undefined
            ? [{ do: "skip", label: say("formSkipButton") } as const]
            : []),
          cancel,
        ],
      ];
    }
    default:
      return [];
  }
}

/** Whether the field can be asked in this chat. */
export function isAskable({ isSensitive = false }: FormField, { isPrivate }: FormContext): boolean {
  return isPrivate || !isSensitive;
}

function keepRow(field: FormField, state: FormState, context: FormContext): Choice[] {
  const given = valueOf(field, state);
  const value = given ?? field.default;
  const isSkipped = state.skipped.includes(field.name);
  if (value === undefined || isSkipped || !fitsField(field, value)) return [];
  if (given === undefined && !isAskable(field, context)) return [];
  const shown = cut(shownValue(field, value, context), LONGEST_KEPT);
  return [{ do: "keep", label: context.say("formKeepButton", { value: shown }) }];
}

function options(field: ChoiceField, page: number, context: FormContext): Choice[][] {
  const all = field.options.map((option, index): Choice => ({
    do: "pick",
    label: optionLabel(option, context.say),
    index,
  }));
  return paged(all, page, context);
}

/** One page of choices. Short ones stand beside each other. */
function paged(all: readonly Choice[], page: number, { say, surface }: FormContext): Choice[][] {
  const { maxPerRow = 8, maxRows = Infinity } = surface.buttonLimits ?? {};
  const room = maxPerRow * maxRows - OTHERS;
  // With room for a few only, a numbered list is easier than many pages.
  const size = room >= 8 ? Math.min(PAGE, room) : PAGE;
  const last = Math.max(0, Math.ceil(all.length / size) - 1);
  const shown = Math.min(page, last);
  const choices = all.slice(shown * size, (shown + 1) * size);
  const longest = Math.max(0, ...choices.map(({ label }) => label.length));
  const perRow = longest <= 10 ? 3 : longest <= 20 ? 2 : 1;
  const rows = Array.from({ length: Math.ceil(choices.length / perRow) }, (_, row) =>
    choices.slice(row * perRow, (row + 1) * perRow),
  );
  const pages: Choice[] = [
    ...(shown > 0 ? [{ do: "page", label: say("formEarlierButton"), index: shown - 1 } as const] : []),
    ...(shown < last ? [{ do: "page", label: say("formLaterButton"), index: shown + 1 } as const] : []),
  ];
  return [...rows, pages];
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
}

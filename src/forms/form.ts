import type { Say } from "../core/text/bot-texts.ts";
import type { SchemaIssue } from "../core/json/check-value.ts";
import type { Json } from "../core/message/content.ts";
import type { MessengerAttachment } from "../core/chat/messenger-event.ts";
import type { SurfaceCapabilities } from "../core/chat/surface.ts";

/**
 * A form asks a person for a value, field by field, and then for all of it once more.
 *
 * It is a pure machine: `formOf` reads a schema, `beginForm` and `stepForm` move the state, `formCard` shows it. Forms,
 * states and presses are plain JSON, so whoever asks can store them. It keeps no rows, reads no clock and asks no model.
 *
 * 1. No event throws, in any order and at any time. An event that is not meant for the shown card changes nothing.
 * 2. A value that is sent fits the kinds and limits of its fields. The schema itself has the last word: `checkValue`.
 * 3. The way back and forward keeps every value.
 * 4. No card and no problem repeats the value of a sensitive field. Outside of private chats it is not asked at all.
 */
export interface Form {
  /** Whether the wanted value is that of the only field, and no object around it. There is then no summary. */
  readonly isSingle: boolean;
  readonly fields: readonly FormField[];
  /** Properties of the value that no field asks for, with the values that they keep. Only a form that edits a value. */
  readonly kept?: Readonly<Record<string, Json>>;
}

/** A field of a form, by the kind of its value. */
export type FormField = FieldFacts & FieldKind;

export interface FieldFacts {
  /** The property's name. The only field of a single value has an empty one. */
  readonly name: string;
  /** Plain text for people. May be empty for a single value. */
  readonly label: string;
  /** Plain text below the label. */
  readonly help?: string;
  /** Whether the person may leave it out. The property is then absent, or `null` with `isNullable`. */
  readonly isOptional?: boolean;
  /** Whether leaving it out means `null`. */
  readonly isNullable?: boolean;
  /** Offered by a button. */
  readonly default?: Json;
  /** Whether the value is masked wherever it would be shown, and asked in private chats only. */
  readonly isSensitive?: boolean;
}

export type FieldKind =
  | TextField
  | NumberField
  | ChoiceField
  | { readonly kind: "date" | "place" }
  /** `patterns`: those that the written form of the value must have. */
  | { readonly kind: "date-time" | "email" | "uri"; readonly patterns?: readonly string[] }
  | FileField;

export interface TextField {
  readonly kind: "text";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly patterns?: readonly string[];
}

export interface NumberField {
  readonly kind: "number";
  readonly isInteger?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface ChoiceField {
  readonly kind: "choice";
  /** Whether the options are `true` and `false`, which may also be answered with words such as "yes". */
  readonly isYesNo?: boolean;
  /** At least one. Without a label `true` and `false` have those of the texts, any other value is its own label. */
  readonly options: readonly { readonly value: Json; readonly label?: string }[];
}

export interface FileField {
  readonly kind: "file" | "photo";
  /** Media types such as `application/pdf` or `image/*`. @default all */
  readonly accept?: readonly string[];
  readonly maxBytes?: number;
}

/** Where a person is in a form. Plain JSON. */
export interface FormState {
  readonly at: FormPlace;
  /** Answers, by the name of the field. */
  readonly values: Readonly<Record<string, Json>>;
  /** Names of the fields that the person has left out. */
  readonly skipped: readonly string[];
  /** Why the last answer does not fit, in the person's words. Shown until the next change. */
  readonly problem?: string;
}

/** `page`: of a list that is too long for one card, from 0. */
export type FormPlace =
  | { readonly kind: "field"; readonly index: number; readonly page: number }
  | { readonly kind: "summary" }
  | { readonly kind: "change"; readonly page: number }
  | { readonly kind: "sent" }
  | { readonly kind: "cancelled" };

/** Something that happens to a form. */
export type FormEvent =
  /** A button of its card was pressed. `press`: the button's payload, as `FormContext.payloadOf` got it. */
  | { readonly kind: "press"; readonly press: unknown }
  | { readonly kind: "message"; readonly message: FormMessage }
  /** The schema has refused the value that was sent. */
  | { readonly kind: "refused"; readonly issues: readonly SchemaIssue[] };

/** A message of a person, as far as a form reads it. */
export interface FormMessage {
  readonly messengerId: string;
  /** Without a mention of the bot. */
  readonly text: string;
  readonly attachments?: readonly MessengerAttachment[];
  readonly location?: Location;
}

/** A place on the map, in degrees. */
export interface Location {
  readonly latitude: number;
  readonly longitude: number;
  readonly title?: string;
  readonly address?: string;
}

/** Payload of a button of a form's card. */
export interface FormPress {
  /** The place whose card has the button. A press of an older card changes nothing. */
  readonly at: string;
  readonly do: "pick" | "keep" | "skip" | "back" | "page" | "send" | "change" | "cancel";
  /** Of `pick`: the index of the option or the field. Of `page`: the page. */
  readonly index?: number;
}

/** What a form needs to know of the person, the chat and the moment. */
export interface FormContext {
  /** The question. Markdown. */
  readonly message: string;
  readonly say: Say;
  /** Language of the person as an IETF tag, for notations of numbers and dates. */
  readonly language: string | undefined;
  /** The person's time zone, or the bot's. */
  readonly timeZone: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether the person is alone with the bot. */
  readonly isPrivate: boolean;
  /** Abilities of the chat's surface. */
  readonly surface: Pick<SurfaceCapabilities, "buttons" | "buttonLimits">;
  /** Makes the payload of a button, such as `{ question: id, press }`. */
  readonly payloadOf: (press: FormPress) => Json;
}

/** Outcome of an event. */
export interface FormStep {
  /** The same object if the event changed nothing. */
  readonly state: FormState;
  /** Why the answer does not fit, in the person's words. The card shows it, too. */
  readonly problem?: string;
  /**
   * Set by the event that ends the form. After `send` the value goes to `checkValue`; its issues come back as the event
   * `refused`, which opens the form again.
   */
  readonly result?: { readonly kind: "send"; readonly value: Json } | { readonly kind: "cancel" };
}

/** Outcome of reading a message as the answer to a field. */
export type Reading =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "problem"; readonly problem: string };

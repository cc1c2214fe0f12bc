import { jsonSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { QuestionPeople } from "../../../src/core/chat/question.ts";
import type { AskedKind, WrittenKind } from "../plan/question-items.ts";

/** Answer to a question of an action: `confirm` has no reason. */
export type Given = boolean | { readonly value?: unknown; readonly why?: string | undefined };

/** A question of an action. */
export interface ToAsk {
  readonly kind: AskedKind;
  readonly message: string;
  readonly of?: QuestionPeople | undefined;
  readonly expiresAfterMs: number;
  readonly remindAfterMs: number | false;
  /** Label of a field by its name. Unique in the run. */
  readonly titleOf: (name: string) => string;
  /** Called with a value that the schema refuses. */
  readonly onRefused: (value: unknown) => void;
}

/** The fields of all forms, in the order in which each form asks for them. */
export const FIELDS: readonly string[] = [
  "Size",
  "Note",
  "Count",
  "Day",
  "Pin",
  "Mail",
  "Photo",
  "File",
  "Spot",
];

const COLOURS = ["red", "blue"] as const;
const SIZE = { type: "string", enum: ["S", "M"] } as const;
/** Schemas of fields that are written or sent, by their names. */
const SCHEMAS = {
  Size: SIZE,
  Note: { type: "string" },
  Count: { type: "integer" },
  Day: { type: "string", format: "date" },
  Pin: { type: "string", format: "password" },
  Mail: { type: "string", format: "email" },
  Photo: { type: "object", format: "photo" },
  File: { type: "object", format: "file" },
  Spot: { type: "object", format: "place" },
} as const;

/** Fields of forms that people fill in by writing and sending. */
const FORMS: Readonly<Record<"details" | "login" | "sent", readonly (keyof typeof SCHEMAS)[]>> = {
  details: ["Size", "Note", "Count", "Day"],
  login: ["Pin", "Mail"],
  sent: ["Mail", "Photo", "File", "Spot"],
};

/** The field that a question without a form asks for. */
export function onlyField(kind: AskedKind | undefined): string {
  return kind === "even" ? "Count" : kind === "secret" ? "Pin" : "Note";
}

export function askOne(ctx: ActionContext, { kind, onRefused, titleOf, ...asked }: ToAsk): Promise<Given> {
  switch (kind) {
    case "confirm":
      return ctx.confirm(asked);
    case "choose":
      return ctx.choose({ ...asked, options: COLOURS });
    case "form":
      return ctx.elicit({ ...asked, schema: objectOf({ size: SIZE, gift: { type: "boolean" } }) });
    default:
      return ctx.elicit({ ...asked, schema: schemaOf({ kind, onRefused, titleOf }) });
  }
}

/** The schema of an answer that people write or send. */
export function schemaOf({
  kind,
  onRefused,
  titleOf,
}: Pick<ToAsk, "onRefused" | "titleOf"> & { readonly kind: WrittenKind }): FlexibleSchema {
  switch (kind) {
    case "text":
      return jsonSchema<string>({ type: "string" });
    case "secret":
      return jsonSchema<string>({ ...SCHEMAS.Pin });
    case "even":
      return evenSchema(onRefused);
    case "details":
    case "login":
    case "sent": {
      const fields = FORMS[kind].map((name) => [
        name.toLowerCase(),
        { ...SCHEMAS[name], title: titleOf(name) },
      ]);
      return objectOf(Object.fromEntries(fields));
    }
    default:
      return kind satisfies never;
  }
}

/** Whether a question has a sensitive field, so that it is asked in private chats only. */
export function isSecretKind(kind: AskedKind | undefined): boolean {
  return kind === "secret" || kind === "login";
}

function objectOf(properties: Readonly<Record<string, object>>): ReturnType<typeof jsonSchema<unknown>> {
  return jsonSchema({ type: "object", properties, required: Object.keys(properties) });
}

/** A number that only the schema itself refuses, so that the person has sent it before. */
function evenSchema(onRefused: (value: unknown) => void): ReturnType<typeof jsonSchema<number>> {
  return jsonSchema<number>(
    { type: "integer" },
    {
      validate: (value) => {
        if (isEven(value)) return { success: true, value };
        onRefused(value);
        return { success: false, error: Object.assign(new Error("odd"), { issues: [{ message: "Odd." }] }) };
      },
    },
  );
}

/** Whether a part of an answer is a secret. */
export function isPin(part: unknown): boolean {
  return typeof part === "string" && part.startsWith("pin");
}

export function isEven(value: unknown): value is number {
  return typeof value === "number" && value % 2 === 0;
}

/** A part of an answer as a card shows it. */
export function shownPart(part: unknown, field = ""): string {
  if (field === "pin") return "•••";
  if (typeof part !== "object" || part === null) return String(part);
  const { latitude, longitude, name } = part as { latitude?: number; longitude?: number; name?: string };
  if (name !== undefined) return name;
  return `${latitude?.toFixed(5)}, ${longitude?.toFixed(5)}`;
}

/** The labels of the buttons without which nobody can have given an answer. */
export function labelsOfAnswer(answer: Given): string[] {
  // `false` is also the end without an answer.
  if (typeof answer === "boolean") return answer ? ["Yes"] : [];
  const { value } = answer;
  if (typeof value === "string") return COLOURS.filter((colour) => colour === value);
  if (typeof value !== "object" || value === null) return [];
  const { gift, size } = value as { readonly gift?: boolean; readonly size?: string };
  return [size ?? [], gift === undefined ? [] : gift ? "Yes" : "No", "Send"].flat();
}

import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../../src/core/message/content.ts";
import { checkValue } from "../../../src/core/json/check-value.ts";
import { beginForm, formValue, nextOpen } from "../../../src/forms/form-places.ts";
import type { FormEvent, FormPress } from "../../../src/forms/form.ts";
import { formOfJsonSchema } from "../../../src/forms/form-of.ts";
import { readAnswer } from "../../../src/forms/read-answer.ts";
import { isOver } from "../../../src/forms/step-form.ts";
import { buttonsOf, contextOf, formFor, message, Reader } from "./rig.ts";

interface Asked {
  readonly schema: z.ZodType;
  /** Texts of which some are answers. */
  readonly texts: readonly string[];
}

const SECRET = "hush-4711";
const KINDS: readonly Asked[] = [
  { schema: z.string().min(2).max(12), texts: ["x", "a word", "a text that is too long", SECRET] },
  { schema: z.string().regex(/^A\d+$/), texts: ["A1", "a1", "B1"] },
  { schema: z.int().min(-3).max(1000), texts: ["2", "1,000", "1.000", "-4", "2.5", "1e3"] },
  { schema: z.number().multipleOf(0.1).positive(), texts: ["0,3", "0.35", "0"] },
  { schema: z.boolean(), texts: ["yes", "No", "perhaps"] },
  { schema: z.enum(["red", "green", "Not now"]), texts: ["RED", "green", "not now", "blue"] },
  { schema: z.literal([1, 2]), texts: ["1", "2", "3"] },
  { schema: z.iso.date(), texts: ["tomorrow", "2026-12-24", "30.2.2027", "3/4"] },
  { schema: z.iso.datetime(), texts: ["tomorrow 9:30", "in 2 hours", "18:00", "2026-12-24T18:00Z", "noon"] },
  { schema: z.email(), texts: ["ada@example.com", "ada@", "<mailto:ada@example.com|ada>"] },
  { schema: z.url(), texts: ["example.com", "https://example.com/a?b", "nothing"] },
];

const asked = fc.constantFrom(...KINDS);
const property = fc.record({
  asked,
  more: fc.constantFrom("required", "optional", "nullable", "default"),
  isSensitive: fc.boolean(),
});
const presses: fc.Arbitrary<FormPress> = fc.record({
  at: fc.constantFrom("field:0", "field:1", "field:2", "summary", "change", "sent"),
  do: fc.constantFrom("pick", "keep", "skip", "back", "page", "send", "change", "cancel"),
  index: fc.nat(5),
});
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ button: fc.nat(40) }) },
  { weight: 6, arbitrary: fc.record({ text: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ free: fc.string({ unit: "grapheme" }) }) },
  { weight: 1, arbitrary: fc.record({ press: fc.oneof(presses, fc.jsonValue()) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      issue: fc.record({ message: fc.string(), path: fc.constantFrom(["f0"], ["f1"]) }),
    }),
  },
);

it("ends in a value of its schema, or stays, whatever people press and write", async () => {
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(property, { minLength: 1, maxLength: 4 }),
      fc.array(event, { maxLength: 40 }),
      fc.boolean(),
      fc.constantFrom("en", "de", "ar", undefined),
      fc.boolean(),
      async (fields, events, isPrivate, language, buttons) => {
        const schema = z.object(
          Object.fromEntries(
            fields.map(({ asked: one, more }, index) => [`f${index}`, moreOf(one.schema, more)] as const),
          ),
        );
        const sensitive = fields.flatMap((one, index) => (one.isSensitive ? [`f${index}`] : []));
        const form = await formFor(schema, { sensitive });
        const context = contextOf({ isPrivate, language, surface: { buttons } });
        const person = new Reader(form, beginForm(form), context);
        for (const one of events) {
          const before = person.state;
          const next = eventOf(one, person, fields);
          person.hear(next);
          const { last, state } = person;
          expect(JSON.parse(JSON.stringify(state))).toEqual(state);
          if (state.at.kind === "field") expect(form.fields[state.at.index]).toBeDefined();
          if (last?.result === undefined && next.kind === "press") {
            // Only an answer and a field that is left out change what a person has said.
            const isMove = !isAnswer(next.press);
            if (isMove) expect(state.values).toEqual(before.values);
          }
          for (const name of Object.keys(before.values)) {
            if (!state.skipped.includes(name)) expect(state.values).toHaveProperty(name);
          }
          if (state.at.kind === "summary") expect(nextOpen(form, state, -1).kind).toBe("summary");
          const { card } = person;
          expect(buttonsOf(card).every(({ label }) => label.length > 0 && label.length <= 64)).toBe(true);
          if (isOver(state)) expect(buttonsOf(card)).toEqual([]);
          for (const name of sensitive) {
            if (!isPrivate) expect(state.values).not.toHaveProperty(name);
          }
          if (last?.result?.kind === "send") {
            sent += 1;
            expect(last.result.value).toEqual(formValue(form, state));
            const checked = await checkValue(schema, last.result.value);
            if (!checked.isValid) {
              // The only check that no JSON Schema tells: whether a pattern ignores case.
              expect(JSON.stringify(last.result.value)).toContain('"a1"');
            }
          }
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(sent).toBeGreaterThan(5);
});

function moreOf(schema: z.ZodType, more: string): z.ZodType {
  if (more === "optional") return schema.optional();
  return more === "nullable" ? schema.nullable() : schema;
}

function isAnswer(press: unknown): boolean {
  const what = typeof press === "object" && press !== null && "do" in press ? press.do : "";
  return what === "pick" || what === "skip" || what === "keep";
}

type Some =
  | { readonly button: number }
  | { readonly text: number }
  | { readonly free: string }
  | { readonly press: unknown }
  | { readonly issue: { readonly message: string; readonly path: readonly string[] } };

function eventOf(one: Some, person: Reader, fields: readonly { readonly asked: Asked }[]): FormEvent {
  if ("button" in one) {
    const buttons = buttonsOf(person.card).filter(({ label }) => label !== "Not now");
    return { kind: "press", press: buttons[one.button % Math.max(1, buttons.length)]?.payload };
  }
  if ("text" in one) {
    const { at } = person.state;
    const texts = [
      ...(at.kind === "field" ? (fields[at.index]?.asked.texts ?? []) : []),
      "back",
      "skip",
      "keep",
    ];
    return message(texts[one.text % texts.length] ?? "");
  }
  if ("free" in one) return message(one.free);
  return "press" in one ? { kind: "press", press: one.press } : { kind: "refused", issues: [one.issue] };
}

it("never shows the value of a sensitive field", async () => {
  const name = z.object({ name: z.string().optional(), secret: z.string().max(30), count: z.int().max(9) });
  const form = await formFor(name, { sensitive: ["secret", "count"] });
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.nat(10), fc.constantFrom(SECRET, `${SECRET} but much too long for this`, "47110815")),
        {
          maxLength: 30,
        },
      ),
      fc.boolean(),
      (steps, buttons) => {
        const person = new Reader(form, beginForm(form), contextOf({ surface: { buttons } })).write("Ada");
        for (const step of steps) {
          if (typeof step === "number") {
            const all = buttonsOf(person.card);
            person.hear({ kind: "press", press: all[step % Math.max(1, all.length)]?.payload });
          } else if (person.state.at.kind === "field" && person.state.at.index > 0) person.write(step);
          person.hear({ kind: "refused", issues: [{ path: ["secret"], message: `${SECRET} 47110815` }] });
          const seen = JSON.stringify([person.card, person.last?.problem ?? ""]);
          expect(seen).not.toContain(SECRET);
          expect(seen).not.toContain("4711");
        }
      },
    ),
    { numRuns: 200 },
  );
});

it("reads any text without an error, and reads only values of the field", async () => {
  const forms = await Promise.all(KINDS.map(({ schema }) => formFor(schema)));
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.stringMatching(/^[\d.,:/ -]{0,14}(?: ?(?:am|uhr|h))?$/),
    fc.constantFrom(...KINDS.flatMap(({ texts }) => texts)),
  );
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.nat(KINDS.length - 1),
      fc.constantFrom("en", "de", "fr", "ar", "xx-nonsense-language", undefined),
      async (said, index, language) => {
        const [field] = forms[index]?.fields ?? [];
        const kind = KINDS[index];
        if (field === undefined || kind === undefined) throw new Error("no field");
        const reading = readAnswer(field, { messengerId: "telegram", text: said }, contextOf({ language }));
        if (reading.kind === "problem") expect(reading.problem).not.toBe("");
        else if (reading.value !== said.trim().toLowerCase())
          expect(kind.schema.safeParse(reading.value satisfies Json).success).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

it("takes back every value with which it begins", async () => {
  const schema = z.object({
    text: z.string().min(1),
    count: z.number(),
    yes: z.boolean(),
    size: z.enum(["s", "m"]).optional(),
    day: z.iso.date().nullable(),
  });
  const form = await formFor(schema);
  const given = fc.record(
    {
      text: fc.string({ minLength: 1 }),
      count: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      yes: fc.boolean(),
      size: fc.constantFrom("s", "m"),
      day: fc.constantFrom("2026-12-24", null),
    },
    { requiredKeys: ["text", "count", "yes", "day"] },
  );
  fc.assert(
    fc.property(given, (value) => {
      const state = beginForm(form, value);
      expect(state.at.kind).toBe("summary");
      expect(formValue(form, state)).toEqual(value);
    }),
  );
});

it("changes nothing of a value but what a person changes", () => {
  const schema = {
    type: "object",
    properties: {
      text: { type: "string" },
      count: { type: ["integer", "null"] },
      size: { enum: ["s", "m"] },
      tags: { type: "array" },
      address: { type: "object" },
    },
    required: ["text", "tags"],
  };
  const given = fc.record(
    {
      text: fc.string(),
      count: fc.oneof(fc.integer(), fc.constant(null)),
      size: fc.constantFrom("s", "m", null),
      tags: fc.array(fc.string()),
      address: fc.record({ street: fc.string() }),
      more: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json),
    },
    { requiredKeys: ["text", "tags"] },
  );
  fc.assert(
    fc.property(given, (value) => {
      const found = formOfJsonSchema(schema, { edits: value });
      if (found.kind !== "form") throw new Error("unsupported");
      const person = new Reader(found.form, beginForm(found.form, value));
      expect(person.state.at.kind).toBe("summary");
      person.press("Send");
      expect(person.last?.result).toEqual({ kind: "send", value });
      const again = new Reader(found.form, beginForm(found.form, value))
        .press("Change")
        .press("Text")
        .write("new");
      expect(again.press("Send").last?.result).toEqual({ kind: "send", value: { ...value, text: "new" } });
    }),
  );
});

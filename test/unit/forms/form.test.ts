import { expect, it } from "vitest";
import { z } from "zod";
import { checkValue } from "../../../src/core/json/check-value.ts";
import { fileSchema, photoSchema, placeSchema } from "../../../src/forms/answer-schemas.ts";
import { beginForm } from "../../../src/forms/form-places.ts";
import { contextOf, formFor, Reader } from "./rig.ts";

const returned = z.object({
  reason: z.union([
    z.literal("broken").meta({ title: "It is broken" }),
    z.literal("late").meta({ title: "It came too late" }),
  ]),
  count: z.int().min(1).max(9).describe("How many"),
  opened: z.boolean(),
  note: z.string().max(20).optional(),
});

it("asks field by field, shows a summary, and sends a value of the schema", async () => {
  const form = await formFor(returned);
  const person = new Reader(form, beginForm(form));
  expect(person.card.text).toBe(
    "A question\n\n**Reason** \\(1 of 4\\)\n\nPlease pick one\\.".replaceAll(
      /\\[()]/g,
      (mark) => `&#${mark.charCodeAt(1)};`,
    ),
  );
  expect(person.labels).toEqual(["It is broken", "It came too late", "Not now"]);
  person.press("It is broken").write("20");
  expect(person.last?.problem).toBe("At most 9.");
  person.write("two");
  expect(person.last?.problem).toBe("Please write a number.");
  expect(person.card.text).toContain("⚠️ Please write a number");
  person.write("2").press("Yes").press("Skip");
  expect(person.card).toMatchObject({
    fields: [
      { label: "Reason", value: "It is broken" },
      { label: "How many", value: "2" },
      { label: "Opened", value: "Yes" },
      { label: "Note", value: "–" },
    ],
  });
  expect(person.labels).toEqual(["Send", "Change", "Not now"]);
  person.press("Change").press("How many").write("3");
  expect(person.state.at.kind).toBe("summary");
  person.press("Send");
  expect(person.last?.result).toEqual({ kind: "send", value: { reason: "broken", count: 3, opened: true } });
  expect(person.labels).toEqual([]);
});

it("goes back and forward without losing an answer", async () => {
  const form = await formFor(returned);
  const person = new Reader(form, beginForm(form)).press("It is broken").write("2").press("Back");
  expect(person.labels).toEqual(["Keep 2", "Back", "Not now"]);
  person.press("Back");
  expect(person.labels).toContain("Keep It is broken");
  person.press("It came too late");
  expect(person.card.text).toContain("Opened");
  expect(person.state.values).toEqual({ reason: "late", count: 2 });
});

it("ends a single question with its answer", async () => {
  const form = await formFor(z.enum(["small", "large"]));
  const person = new Reader(form, beginForm(form), contextOf({ message: "Which size?" }));
  expect(person.card.text).toBe("Which size?\n\nPlease pick one\\.");
  expect(person.labels).toEqual(["small", "large", "Not now"]);
  expect(person.write("LARGE").last?.result).toEqual({ kind: "send", value: "large" });
});

it("ends without a value when the person does not want to", async () => {
  const form = await formFor(z.boolean());
  const person = new Reader(form, beginForm(form)).press("Not now");
  expect(person.last?.result).toEqual({ kind: "cancel" });
  expect(person.write("yes").last).toEqual({ state: person.state });
});

it("returns to the field that the schema refuses", async () => {
  const schema = z.object({
    name: z.string(),
    order: z.string().refine((id) => id.startsWith("A"), "Orders begin with A"),
  });
  const form = await formFor(schema);
  const person = new Reader(form, beginForm(form)).write("Ada").write("B7").press("Send");
  const result = person.last?.result;
  const checked = await checkValue(schema, result?.kind === "send" ? result.value : undefined);
  if (checked.isValid) throw new Error("the schema accepts it");
  person.hear({ kind: "refused", issues: checked.issues });
  expect(person.last?.problem).toBe("Orders begin with A");
  expect(person.card.text).toContain("Order");
  person.write("A7").press("Send");
  expect(person.last?.result).toEqual({ kind: "send", value: { name: "Ada", order: "A7" } });
});

it("begins with the summary if all values are given", async () => {
  const form = await formFor(returned);
  const person = new Reader(form, beginForm(form, { reason: "late", count: 4, opened: false }));
  expect(person.labels).toEqual(["Send", "Change", "Not now"]);
  const other = new Reader(form, beginForm(form, { reason: "unknown", count: 4, opened: false }));
  expect(other.card.text).toContain("Reason");
});

it("never shows a sensitive value, and asks for it in private chats only", async () => {
  const form = await formFor(z.object({ pin: z.string().min(4), name: z.string() }), { sensitive: ["pin"] });
  const person = new Reader(form, beginForm(form)).write("123");
  expect(JSON.stringify([person.card, person.last?.problem])).not.toContain("123");
  person.write("4711").press("Back");
  expect(JSON.stringify(person.card)).not.toContain("4711");
  expect(person.labels).toContain("Keep •••");
  person.press("Keep •••").write("Ada");
  expect(person.card.fields?.[0]).toEqual({ label: "Pin", value: "•••" });
  const group = new Reader(form, beginForm(form), contextOf({ isPrivate: false })).write("4711");
  expect(group.last?.problem).toBe("I only ask this in a private chat.");
  expect(group.state.values).toEqual({});
});

it("takes words where the buttons would be numbers", async () => {
  const form = await formFor(z.object({ size: z.enum(["s", "m"]), count: z.number().optional() }));
  const person = new Reader(form, beginForm(form), contextOf({ surface: { buttons: false } }));
  expect(person.labels).toEqual(["s", "m", "Not now"]);
  person.write("m");
  expect(person.labels).toEqual([]);
  expect(person.card.text).toContain("“back”, “skip”, “not now”");
  expect(person.write("back").state.at).toMatchObject({ index: 0 });
  person.press("Keep m").write("Skip");
  expect(person.state.at.kind).toBe("summary");
});

it("ignores a press of an earlier card", async () => {
  const form = await formFor(z.object({ one: z.boolean(), two: z.boolean() }));
  const person = new Reader(form, beginForm(form));
  const [yes] = person.card.buttons?.[0] ?? [];
  if (yes?.kind !== "callback") throw new Error("no button");
  const press = { kind: "press", press: yes.payload } as const;
  person.hear(press).hear(press);
  expect(person.state.values).toEqual({ one: true });
});

it("shows long lists in pages", async () => {
  const form = await formFor(z.enum(Array.from({ length: 45 }, (_, index) => `option ${index}`) as [string]));
  const person = new Reader(form, beginForm(form));
  expect(person.labels).toHaveLength(22);
  person.press("More ▶").press("More ▶");
  expect(person.labels).toEqual([
    ...Array.from({ length: 5 }, (_, index) => `option ${index + 40}`),
    "◀ Earlier",
    "Not now",
  ]);
  expect(person.write("option 3").last?.result).toEqual({ kind: "send", value: "option 3" });
});

it("asks for a photo, a file and a place", async () => {
  const schema = z.object({
    picture: photoSchema({ maxBytes: 1024 * 1024 }).describe("Picture of the damage"),
    receipt: fileSchema({ accept: ["application/pdf"] }).optional(),
    where: placeSchema().nullable(),
  });
  const form = await formFor(schema);
  const person = new Reader(form, beginForm(form)).write("here");
  expect(person.last?.problem).toBe("Please send a photo.");
  const photo = { kind: "image", reference: { fileId: "1" }, sizeBytes: 2_000_000 } as const;
  person.write("", { attachments: [photo] });
  expect(person.last?.problem).toBe("That's too large. At most 1 MB, please.");
  person.write("", { attachments: [{ ...photo, sizeBytes: 20_000 }, photo] });
  expect(person.last?.problem).toBe("Please send only one.");
  person.write("", { attachments: [{ ...photo, sizeBytes: 20_000 }] });
  const receipt = { kind: "document", reference: { fileId: "2" }, name: "receipt.pdf" } as const;
  person.write("", { attachments: [{ ...receipt, mediaType: "text/html" }] });
  expect(person.last?.problem).toBe("I can't use files of this kind. I can use: application/pdf.");
  person.write("", { attachments: [{ ...receipt, mediaType: "application/pdf" }] });
  person.write("", { location: { latitude: 52.5, longitude: 13.4, title: "Office" } });
  expect(person.card.fields).toEqual([
    { label: "Picture of the damage", value: "a photo" },
    { label: "Receipt", value: "receipt.pdf" },
    { label: "Where", value: "Office (52.50000, 13.40000)" },
  ]);
  const result = person.press("Send").last?.result;
  if (result?.kind !== "send") throw new Error("not sent");
  expect(await checkValue(schema, result.value)).toEqual({ isValid: true, value: result.value });
  expect(result.value).toMatchObject({ picture: { messengerId: "telegram", reference: { fileId: "1" } } });
});

import { jsonSchema } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { formOf, formOfJsonSchema } from "../../../src/forms/form-of.ts";
import { formFor } from "./rig.ts";

describe("a schema that a form can ask for", () => {
  it("has a field for each property, with the words of the schema", async () => {
    const form = await formFor(
      z.object({
        orderId: z
          .string()
          .regex(/^A\d+$/)
          .describe("The order, as the customer has written it. Begins with A."),
        amount: z.number().positive().max(500).describe("Amount in euros"),
        count: z.int().min(1).default(1),
        reason: z.enum(["broken", "late"]).meta({ title: "Why" }),
        isGift: z.boolean().optional(),
        due: z.iso.date().nullable(),
        at: z.iso.datetime(),
        mail: z.email(),
        page: z.url(),
      }),
      { labels: { "reason.broken": "It is broken" }, sensitive: ["mail"] },
    );
    expect(form.fields).toMatchObject([
      {
        name: "orderId",
        label: "Order id",
        help: "The order, as the customer has written it. Begins with A.",
        kind: "text",
        patterns: [String.raw`^A\d+$`],
      },
      { label: "Amount in euros", kind: "number", exclusiveMinimum: 0, maximum: 500 },
      { name: "count", kind: "number", isInteger: true, minimum: 1, default: 1 },
      {
        label: "Why",
        kind: "choice",
        options: [{ value: "broken", label: "It is broken" }, { value: "late" }],
      },
      { label: "Is gift", kind: "choice", isYesNo: true, isOptional: true },
      { kind: "date", isOptional: true, isNullable: true },
      { kind: "date-time" },
      { kind: "email", isSensitive: true },
      { kind: "uri" },
    ]);
  });

  it("may be that of one value", async () => {
    expect(await formFor(z.number().min(2))).toEqual({
      isSingle: true,
      fields: [{ name: "", label: "", kind: "number", minimum: 2 }],
    });
  });

  it("may point to its parts", () => {
    const schema = {
      $ref: "#/definitions/Return",
      definitions: {
        Reason: { enum: ["broken", "late"] },
        Return: { type: "object", properties: { reason: { $ref: "#/definitions/Reason" } } },
      },
    };
    expect(formOfJsonSchema(schema)).toMatchObject({
      form: { fields: [{ name: "reason", kind: "choice", isOptional: true }] },
    });
  });

  it("has a sensitive field for each password", async () => {
    const form = await formFor(jsonSchema({ type: "string", format: "password" }));
    expect(form.fields[0]).toMatchObject({ isSensitive: true });
  });
});

describe("a schema that no form can ask for", () => {
  it.each([
    ["a list", z.object({ name: z.string(), tags: z.array(z.string()) }), "tags"],
    ["an object in an object", z.object({ address: z.object({ street: z.string() }) }), "address"],
    ["texts or numbers", z.object({ id: z.union([z.string(), z.number()]) }), "id"],
    ["anything", z.object({ data: z.unknown() }), "data"],
    ["a map", z.record(z.string(), z.string()), ""],
    ["no field", z.object({}), ""],
    ["a class", z.object({ at: z.date() }), ""],
    ["one of two objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), ""],
    ["a list alone", z.array(z.string()), ""],
    ["a reference to itself", jsonSchema({ $ref: "#" }), ""],
  ])("asks for %s", async (_what, schema, path) => {
    expect(await formOf(schema)).toEqual({ kind: "unsupported", path });
  });

  it("lacks a value that it needs, also when it edits one", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, list: { type: "array" } } };
    expect(formOfJsonSchema({ ...schema, required: ["list"] }, { edits: { a: "b" } })).toEqual({
      kind: "unsupported",
      path: "list",
    });
    expect(formOfJsonSchema(schema, { edits: { a: "b" } }).kind).toBe("form");
    expect(formOfJsonSchema(schema)).toEqual({ kind: "unsupported", path: "list" });
  });

  it("is one of a library that does not describe itself", async () => {
    const schema = {
      "~standard": { version: 1, vendor: "tiny", validate: (value: unknown) => ({ value }) },
    } as const;
    await expect(formOf(schema as unknown as Parameters<typeof formOf>[0])).rejects.toMatchObject({
      code: "schema-undescribed",
    });
  });
});

import { describe, expect, it } from "vitest";
import { mendSchema } from "../../../../src/core/json/mend-schema.ts";

describe("a tool's input schema", () => {
  it("stays as it is if every provider takes it", () => {
    const schema = {
      type: "object",
      properties: { query: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
      required: ["query"],
      additionalProperties: false,
    };
    expect(mendSchema(schema)).toEqual(schema);
  });

  it("is that of an object without properties if there is none", () => {
    expect(mendSchema(undefined)).toEqual({ type: "object", properties: {} });
    expect(mendSchema({ type: "object" })).toEqual({ type: "object", properties: {} });
    expect(mendSchema({ $schema: "https://json-schema.org/draft/2020-12/schema" })).toEqual({
      type: "object",
      properties: {},
    });
  });

  it("has the properties of all branches if it is a choice", () => {
    const schema = {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      additionalProperties: false,
      oneOf: [
        { properties: { id: { const: "a" }, size: { type: "number" } }, required: ["size"] },
        { properties: { colour: { type: "string" } } },
      ],
    };
    expect(mendSchema(schema)).toEqual({
      type: "object",
      properties: { id: { type: "string" }, size: { type: "number" }, colour: { type: "string" } },
      required: ["id"],
    });
  });

  it("says of each list that it has items", () => {
    expect(mendSchema({ type: "object", properties: { all: { type: "array" } } })).toEqual({
      type: "object",
      properties: { all: { type: "array", items: {} } },
    });
  });

  it("keeps references inside of the document, and refuses all others", () => {
    const inside = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { type: "string" } },
    };
    expect(mendSchema(inside)).toEqual(inside);
    expect(mendSchema({ ...inside, $defs: { a: { $ref: "https://a.example/s" } } })).toBeUndefined();
  });

  it.each([
    ["no object", { type: "string" }],
    ["no schema", []],
    ["a name that providers refuse", { type: "object", properties: { "two words": {} } }],
    ["too long", { type: "object", description: "x".repeat(20_000) }],
    [
      "too deep",
      { type: "object", properties: JSON.parse('{"a":'.repeat(30) + "1" + "}".repeat(30)) as object },
    ],
  ])("is refused if it is %s", (_what, schema) => {
    expect(mendSchema(schema)).toBeUndefined();
  });
});

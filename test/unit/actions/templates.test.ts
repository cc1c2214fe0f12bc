import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTemplates, hasTemplates } from "../../../src/actions/tools/templates.ts";

const values = {
  calls: [{ id: "o7", items: [{ sku: "A" }], paid: true, total: 12 }, undefined],
  shortTermMemory: { "cart-id": "c_1" },
};
const ROOTS = Object.keys(values);

describe("templates in arguments", () => {
  it.each([
    ["{{calls[0].id}}", "o7"],
    ["{{ calls[0].items[0].sku }}", "A"],
    ["{{calls[0].items}}", [{ sku: "A" }]],
    ["{{calls[0].total}}", 12],
    [
      "order {{calls[0].id}} of {{shortTermMemory.cart-id}}, paid: {{calls[0].paid}}",
      "order o7 of c_1, paid: true",
    ],
    [
      { deep: [{ id: "{{calls[0].id}}" }], n: 1, no: null },
      { deep: [{ id: "o7" }], n: 1, no: null },
    ],
    ["{{name}} and {{ other.path }}", "{{name}} and {{ other.path }}"],
    ["{{calls}} of {{name}}", "{{calls}} of {{name}}", "{{calls}}"],
  ])("fills %j", (input, expected, problem?: string) => {
    const filled = fillTemplates(input, values);
    expect(filled.input).toEqual(expected);
    expect(filled.problems.map(({ message }) => message)).toEqual(
      problem === undefined ? [] : [expect.stringContaining(problem)],
    );
  });

  it.each([
    [{ id: "{{calls[1].id}}" }, ["id"], "there is no calls[1]"],
    [{ id: ["{{calls[0].nope.deep}}"] }, ["id", 0], "there is no calls[0].nope"],
    [{ id: "{{calls[0].constructor}}" }, ["id"], "there is no calls[0].constructor"],
    [{ id: "{{shortTermMemory.__proto__}}" }, ["id"], "there is no shortTermMemory.__proto__"],
    [{ id: "{{calls[9]}}" }, ["id"], "there is no calls[9]"],
  ])("names what is missing in %j", (input, path, message) => {
    expect(fillTemplates(input, values).problems).toEqual([
      { path, message: expect.stringContaining(message) },
    ]);
  });

  it("leaves every input without a template as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        fc.pre(!hasTemplates(input, ROOTS));
        expect(fillTemplates(input, values)).toEqual({ input, problems: [] });
      }),
    );
  });

  it("never reads a value that was put in, and never throws", () => {
    const path = fc
      .array(fc.oneof(fc.constantFrom(".id", "[0]", "[1]", ".items", ".length", "[99999999999]")), {
        maxLength: 5,
      })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...ROOTS, "x"), path, fc.string())), (parts) => {
        const text = parts.map(([root, rest, more]) => `{{${root}${rest}}}${more}`).join("");
        const evil = { calls: [{ id: "{{calls[0].items}}", items: ["{{x}}"] }], shortTermMemory: {} };
        const { input, problems } = fillTemplates({ text }, evil);
        expect(typeof input).toBe("object");
        for (const { path: at } of problems) expect(at).toEqual(["text"]);
      }),
    );
    expect(fillTemplates("{{calls[0]}}", { calls: ["{{calls[0]}}"] }).input).toBe("{{calls[0]}}");
  });
});

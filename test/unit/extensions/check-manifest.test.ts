import { describe, expect, it } from "vitest";
import { checkManifest } from "../../../src/extensions/check-manifest.ts";
import { toolSchema } from "../../../src/extensions/tool-schema.ts";

const ALL = { workspace: true, memory: true };
const base = { name: "notes", version: "1.0.0" };

function problem(manifest: unknown, has = ALL, source = "({})"): string {
  try {
    checkManifest(manifest, source, has);
    return "";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

describe("a manifest", () => {
  it("is taken with all that an extension can get", () => {
    const manifest = {
      ...base,
      description: "Notes.",
      permissions: { network: ["api.example.com", "*.example.org"], workspace: "read-write" },
      context: [{ label: "pad", type: "writable", maxTokens: 500 }],
      hooks: ["beforeTurn", "onChunk"],
    };
    expect(checkManifest(manifest, "({})", ALL)).toEqual(manifest);
    expect(problem({ ...base, permissions: { network: false, workspace: "none" } })).toBe("");
  });

  it.each([
    ["messages", { messages: true }],
    ["__proto__", JSON.parse('{ "__proto__": { "workspace": "read-write" } }')],
    ["constructor", { constructor: 1 }],
    ["the whole network", { network: true }],
    ['network "*"', { network: ["*"] }],
    ['network "*.com"', { network: ["*.com"] }],
    ['network "localhost"', { network: ["localhost"] }],
    ['network "10.0.0.1"', { network: ["10.0.0.1"] }],
    ['network "[::1]"', { network: ["[::1]"] }],
    ['network "api.internal"', { network: ["api.internal"] }],
    ['network "*.svc"', { network: ["*.svc"] }],
    ['network "https://example.com"', { network: ["https://example.com"] }],
    ['network "example.com:22"', { network: ["example.com:22"] }],
    ['network "7"', { network: [7] }],
  ])("is refused by the name of its permission: %s", (words, permissions) => {
    const said = problem({ ...base, permissions });
    expect(said).toContain("extension-permission");
    expect(said).toContain(words);
  });

  it.each([
    ["no value", null],
    ["a text", "notes"],
    ["a name of a prototype", { ...base, name: "__proto__" }],
    ["a name with _", { ...base, name: "a_b" }],
    ["a name that is too long", { ...base, name: "a".repeat(25) }],
    ["another hook", { ...base, hooks: ["beforeStep"] }],
    ["rules for itself", { ...base, approval: false }],
    ["a field of a prototype", JSON.parse('{ "name": "notes", "version": "1", "constructor": {} }')],
    ["a label that could be another one's", { ...base, context: [{ label: "../x" }] }],
  ])("is refused with %s", (_name, manifest) => {
    expect(problem(manifest)).toContain("extension-manifest");
  });

  it("is read once: a getter cannot say something else later", () => {
    let reads = 0;
    const sly = {
      ...base,
      get permissions() {
        reads += 1;
        return reads === 1 ? {} : { workspace: "read-write" };
      },
    };
    expect(checkManifest(sly, "({})", ALL).permissions).toEqual({});
  });

  it("is refused for parts that the bot does not have", () => {
    const files = { ...base, permissions: { workspace: "read" } };
    expect(problem(files, { ...ALL, workspace: false })).toContain("static member workspace");
    const blocks = { ...base, context: [{ label: "pad" }] };
    expect(problem(blocks, { ...ALL, memory: false })).toContain("static member memory");
    expect(problem({ ...base, context: [{ label: "pad", type: "skill" }] })).toContain('type "skill"');
    expect(problem(base, ALL, "")).toContain("extension-source");
    expect(problem(base, ALL, "x".repeat(200_001))).toContain("extension-source");
  });
});

it.each([
  [{ a: { type: "number" } }, true],
  [{ a: { type: ["string", "null"], enum: ["x"] } }, true],
  [{ a: { type: "array", items: { type: "object", properties: { b: { type: "string" } } } } }, true],
  [undefined, true],
  [{ a: { type: "money" } }, false],
  [{ a: { type: "string", enum: [] } }, false],
  [{ a: { $ref: "#/x" } }, false],
  [{ a: { type: "object", properties: { b: { type: "date" } } } }, false],
  [{ "a b": { type: "string" } }, false],
  [{ a: 1 }, false],
  [[], false],
  ["text", false],
])("takes parameters that every model's server takes: %j", (parameters, isTaken) => {
  expect(toolSchema(parameters, ["a", "toString"]) !== undefined).toBe(isTaken);
});

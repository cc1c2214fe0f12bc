import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mcpClient } from "../../../src/mcp-client/index.ts";
import type { McpServer } from "../../../src/mcp-client/index.ts";
import { modelNameOf } from "../../../src/mcp-client/model-name.ts";
import { serversOf } from "../../../src/mcp-client/server-list.ts";
import { pinTools } from "../../../src/mcp-client/tool-pin.ts";

const at = (server: unknown, name = "docs") => ({ servers: { [name]: server as McpServer } });

describe("the servers of a bot", () => {
  it.each(["https://docs.example/mcp", "http://127.0.0.1:3001/mcp", "http://localhost/mcp", "http://[::1]/"])(
    "may be at %s",
    (url) => expect(serversOf(at({ url }), {})).toMatchObject({ docs: { url } }),
  );

  it.each([
    "http://docs.example/mcp",
    "ftp://docs.example",
    "docs",
    "https://user:secret-word@docs.example/",
  ])("are not at %s", (url) => {
    expect(() => serversOf(at({ url }), {})).toThrow(expect.objectContaining({ code: "mcp-server-url" }));
    expect(() => serversOf(at({ url }), {})).not.toThrow("secret-word");
  });

  it("may be on plain http if the author says so", () => {
    expect(serversOf(at({ url: "http://docs.example", allowInsecure: true }), {})).toBeDefined();
  });

  it("come from the environment", () => {
    const servers = (env: { readonly URL: string }) => ({ docs: { url: env.URL } });
    expect(serversOf({ servers: servers as never }, { URL: "https://a.example" })).toMatchObject({
      docs: { url: "https://a.example" },
    });
  });

  it.each(["Docs", "my__docs", "my_docs", "7up", "", "x".repeat(25)])("are not named %j", (name) => {
    expect(() => serversOf(at({ url: "https://a.example" }, name), {})).toThrow(
      expect.objectContaining({ code: "mcp-server-name" }),
    );
  });

  it("have no option that would be ignored", () => {
    const wrong = [{ aproval: true }, { tools: { search: { trustAnnotations: true } } }, { timeoutMs: 0 }];
    for (const more of wrong)
      expect(() => serversOf(at({ url: "https://a.example", ...more }), {})).toThrow(
        expect.objectContaining({ code: "mcp-server-option" }),
      );
    expect(() => mcpClient({ servers: {}, maxTools: 0 })).toThrow(
      expect.objectContaining({ code: "mcp-client-option" }),
    );
  });
});

describe("the names that the model sees", () => {
  it("are those of the server and the tool", () => {
    expect(modelNameOf("docs", "search")).toBe("docs__search");
  });

  it("are taken by every provider, and never those of another tool", () => {
    const server = fc.constantFrom("a", "b", "a-b", "ab");
    const tool = fc.string({
      minLength: 1,
      maxLength: 100,
      unit: fc.constantFrom("a", "_", "-", ".", "/", "é"),
    });
    const named = fc.record({ server, tool });
    fc.assert(
      fc.property(named, named, (one, other) => {
        const [name, second] = [one, other].map((both) => modelNameOf(both.server, both.tool));
        expect(name).toMatch(/^[\w-]{1,64}$/);
        expect(name === second).toBe(one.server === other.server && one.tool === other.tool);
      }),
    );
  });
});

describe("the tools of a server", () => {
  const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

  it("have a hash that changes with all that the model or the owner reads", () => {
    const hashOf = (more: object) => pinTools("docs", [tool("search", more)], {}).tools[0]?.hash;
    const hashes = [
      {},
      { description: "Searches." },
      { inputSchema: { type: "object", properties: { all: { type: "boolean" } } } },
      { annotations: { readOnlyHint: true } },
      { annotations: { destructiveHint: true } },
    ].map(hashOf);
    expect(new Set(hashes).size).toBe(5);
    expect(hashOf({ inputSchema: { a: 1, type: "object" } })).toBe(
      hashOf({ inputSchema: { type: "object", a: 1 } }),
    );
  });

  it("are left out with a reason: a schema, a name, too many", () => {
    const listed = [
      tool("remote", { inputSchema: { type: "object", properties: { a: { $ref: "https://a.example/s" } } } }),
      tool("list", { inputSchema: { type: "array" } }),
      tool(""),
      tool("one"),
      tool("one"),
      tool("two"),
      tool("three"),
      tool("unwanted"),
    ];
    const only = listed.map(({ name }) => name).filter((name) => name !== "unwanted");
    const { leftOut, tools } = pinTools("docs", listed, { only }, 2);
    expect(tools.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(leftOut).toEqual([
      { name: "remote", why: "schema" },
      { name: "list", why: "schema" },
      { name: "", why: "name" },
      { name: "one", why: "name" },
      { name: "three", why: "too-many" },
    ]);
  });
});

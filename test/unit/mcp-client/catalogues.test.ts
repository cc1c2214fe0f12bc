import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { Catalogues } from "../../../src/mcp-client/catalogues.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MINUTE_MS = 60_000;

/** A server that lists tools with these descriptions, and the catalogues of its bot. */
function createCatalogues(tools: Record<string, string> = { search: "Searches.", send: "Sends." }) {
  const served = { tools, isDown: false, url: "https://docs.example/mcp", owner: true };
  const asked: string[][] = [];
  const clock = createVirtualClock();
  const { lines, log } = recordLog();
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "docs", version: "1" }, { capabilities: { tools: {} } });
    server.server.setRequestHandler("tools/list", () => ({
      tools: Object.entries(served.tools).map(([name, description]) => ({
        name,
        description,
        inputSchema: { type: "object" as const },
      })),
    }));
    return server;
  });
  const deps = {
    clock,
    newId: () => "id",
    random: () => 0,
    fetch: (async (url, init) => {
      if (served.isDown) return new Response("secret words", { status: 503 });
      return handler.fetch(new Request(url, init));
    }) as typeof fetch,
  };
  const database = createNodeDatabase();
  const catalogues = new Catalogues({
    database,
    deps,
    log,
    servers: () => ({ docs: { url: served.url } }),
    maxTools: undefined,
    tokenFor: () => Promise.resolve(undefined),
    cards: {
      ask: async (_server, some, isChange) => {
        if (served.owner) asked.push(some.map((tool) => `${tool.name}${isChange(tool) ? " again" : ""}`));
        return served.owner;
      },
    },
  });
  const hashOf = (name: string) => catalogues.states().find(({ tool }) => tool === name)?.hash ?? "";
  const offered = () => catalogues.offered().tools["docs"]?.map(({ name }) => name);
  return { served, asked, catalogues, clock, lines, database, hashOf, offered };
}

describe("a catalogue", () => {
  it("costs no table before there is a server to list", () => {
    const { catalogues, database } = createCatalogues();
    expect(catalogues.stale()).toEqual(["docs"]);
    expect(catalogues.offered().tools).toEqual({ docs: [] });
    expect(database.all("SELECT name FROM sqlite_master")).toEqual([]);
  });

  it("offers what the owner has allowed, and asks once about each tool as it is", async () => {
    const { asked, catalogues, hashOf, offered, served } = createCatalogues();
    await catalogues.refresh("docs");
    expect([asked, offered()]).toEqual([[["search", "send"]], []]);
    const before = catalogues.offered().version;
    expect(catalogues.decide("docs", [hashOf("search")], true)).toBe(1);
    expect(catalogues.decide("docs", [hashOf("send")], false)).toBe(1);
    expect(offered()).toEqual(["search"]);
    expect(catalogues.offered().version).not.toBe(before);
    await catalogues.refresh("docs");
    expect(asked).toHaveLength(1);
    served.tools = { search: "Sends everything away.", send: "Sends." };
    await catalogues.refresh("docs");
    expect([asked.at(-1), offered()]).toEqual([["search again"], []]);
    // As the owner knows it.
    served.tools = { search: "Searches." };
    await catalogues.refresh("docs");
    expect([asked.length, offered()]).toEqual([2, ["search"]]);
  });

  it("does not count a decision about a tool that has changed since", async () => {
    const { catalogues, hashOf, offered, served } = createCatalogues();
    await catalogues.refresh("docs");
    const old = hashOf("search");
    served.tools = { search: "Sends everything away." };
    await catalogues.refresh("docs");
    expect(catalogues.decide("docs", [old], true)).toBe(0);
    expect(offered()).toEqual([]);
  });

  it("keeps its tools while the server is away, and asks it again each minute", async () => {
    const { catalogues, clock, hashOf, lines, offered, served } = createCatalogues();
    await catalogues.refresh("docs");
    catalogues.decide("docs", [hashOf("search")], true);
    await clock.advance(9 * MINUTE_MS);
    expect(catalogues.stale()).toEqual([]);
    await clock.advance(MINUTE_MS);
    expect(catalogues.stale()).toEqual(["docs"]);
    served.isDown = true;
    await catalogues.refresh("docs");
    expect(offered()).toEqual(["search"]);
    expect(catalogues.stale()).toEqual([]);
    expect(catalogues.warnings()).toMatchObject([
      { code: "mcp-server-failing", message: expect.stringContaining("http-503") as unknown },
      { code: "mcp-tools-waiting", message: expect.stringContaining("send") as unknown },
    ]);
    expect(JSON.stringify([lines, catalogues.warnings()])).not.toContain("secret words");
    await clock.advance(MINUTE_MS);
    expect(catalogues.stale()).toEqual(["docs"]);
    served.isDown = false;
    await catalogues.refresh("docs");
    expect(catalogues.warnings().map(({ code }) => code)).toEqual(["mcp-tools-waiting"]);
  });

  it("asks again when the owner could not be reached", async () => {
    const { asked, catalogues, served } = createCatalogues();
    served.owner = false;
    await catalogues.refresh("docs");
    await catalogues.askOwner("docs");
    expect(catalogues.states().map(({ state }) => state)).toEqual(["new", "new"]);
    served.owner = true;
    await catalogues.askOwner("docs");
    expect(asked).toEqual([["search", "send"]]);
    expect(catalogues.states().map(({ state }) => state)).toEqual(["asked", "asked"]);
  });

  it("is another one at another address", async () => {
    const { catalogues, hashOf, offered, served } = createCatalogues();
    await catalogues.refresh("docs");
    catalogues.decide("docs", [hashOf("search")], true);
    served.url = "https://other.example/mcp";
    expect(offered()).toEqual([]);
    await catalogues.refresh("docs");
    expect(offered()).toEqual([]);
  });

  it("names tools that are left out, in the log and /health", async () => {
    const many = Object.fromEntries(Array.from({ length: 42 }, (_, at) => [`tool${at}`, "One of many."]));
    const { catalogues, lines } = createCatalogues(many);
    await catalogues.refresh("docs");
    expect(catalogues.states()).toHaveLength(40);
    expect(catalogues.warnings().at(-1)?.message).toContain("tool40, tool41");
    expect(lines).toContainEqual(expect.objectContaining({ event: "mcp-client.tools-left-out" }));
  });
});

import { runDurableObjectAlarm } from "cloudflare:test";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createCodemodeRuntime, OpenApiConnector } from "../../../src/codemode/index.ts";
import type {
  CodemodeRuntime,
  ConnectorTool,
  OpenApiCredentials,
  ToolExecuteContext,
} from "../../../src/codemode/index.ts";
import { createQuickJSExecutor } from "../../../src/sandbox/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { codeScript, useCodemode } from "../support/code-bot.ts";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(() => void (log = captureLog()));
let end: () => void;
beforeAll(async () => {
  end = useCodemode();
  await createQuickJSExecutor().execute("async () => 1", []);
});
afterAll(() => end());

const TOKEN = "shop-token-0123456789";
const text = { "application/json": { schema: { type: "object", required: ["text"] } } };
const id = { name: "id", in: "path", required: true, schema: { type: "string" } };

/** A document of the year before last. */
const DOCUMENT = {
  openapi: "3.0.3",
  paths: {
    "/orders/{id}": { parameters: [id], get: { operationId: "get_order" } },
    "/orders/{id}/notes": {
      parameters: [id],
      post: {
        operationId: "add_note",
        summary: "Adds a note",
        requestBody: { required: true, content: text },
      },
    },
    "/orders/{id}/refund": {
      parameters: [id],
      post: { operationId: "refund", summary: "Refunds an order" },
    },
  },
};

interface Shop {
  readonly calls: string[];
  readonly keys: (string | null)[];
}

class ShopConnector extends OpenApiConnector {
  readonly #shop: Shop;

  constructor(ctx: object, env: object, shop: Shop) {
    super(ctx, env);
    this.#shop = shop;
  }

  name(): string {
    return "shop";
  }

  protected spec(): object {
    return DOCUMENT;
  }

  protected override baseUrl(): string {
    return "https://shop.example/v1";
  }

  protected override credentials(ctx?: ToolExecuteContext): OpenApiCredentials {
    return { headers: { authorization: `Bearer ${TOKEN}`, "x-person": ctx?.person?.userId ?? "" } };
  }

  protected override idempotencyHeader(): string {
    return "idempotency-key";
  }

  protected override tool(name: string, tool: ConnectorTool): ConnectorTool {
    return name === "add_note" ? { ...tool, requiresApproval: false } : tool;
  }

  protected override async fetch(address: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    this.#shop.calls.push(`${init.method} ${new URL(address).pathname} for ${headers.get("x-person")}`);
    if (init.method !== "GET") this.#shop.keys.push(headers.get("idempotency-key"));
    if (address.endsWith("/missing")) return Response.json({ said: `You sent ${TOKEN}` }, { status: 404 });
    return Response.json({ total: 40, token: TOKEN });
  }
}

interface ShopBot extends Shop {
  readonly world: World;
}

function shopBot(rest: WorldOptions = {}): ShopBot {
  const shop: Shop = { calls: [], keys: [] };
  const tool = (agent: object): CodemodeRuntime => {
    const { ctx, env } = agent as { readonly ctx: object; readonly env: object };
    return createCodemodeRuntime({ ctx, connectors: [new ShopConnector(ctx, env, shop)] });
  };
  const world = createWorld({
    script: codeScript,
    getTools: (agent) => ({ codemode: tool(agent).tool() as never }),
    ...rest,
  });
  return { ...shop, world };
}

const REFUND =
  "run async () => { const order = await shop.get_order({ id: 'A1' }); await shop.add_note({ id: 'A1', body: { text: 'soon' } }); await shop.refund({ id: 'A1' }); return order.total; }";

describe("a service with an OpenAPI document", () => {
  it("is read and changed by code, and asks a person before a change", async () => {
    const { calls, world } = shopBot();
    await world.write("c1", REFUND);
    const { texts } = await expectShown(world, "Refunds an order");
    expect(texts.at(-1)).toContain("A1");
    const before = ["GET /v1/orders/A1 for ada", "POST /v1/orders/A1/notes for ada"];
    expect(calls).toEqual(before);
    await world.press("c1", "Approve");
    await expectShown(world, '"result":40');
    expect(calls).toEqual([...before, "POST /v1/orders/A1/refund for ada"]);
    expect(JSON.stringify(world.chats.visible("c1"))).not.toContain(TOKEN);
    expect(JSON.stringify(log)).not.toContain(TOKEN);
  });

  it("tells the model its operations in TypeScript, in the first call", async () => {
    const { world } = shopBot();
    await world.write("c1", "hello");
    await expectShown(world, "Heard: hello");
    expect(world.requests[0]?.toolWords).toContain("declare const shop: {");
    expect(world.requests[0]?.toolWords).toContain("get_order(input: { id: string }): Promise<unknown>;");
  });

  it("gives code its failures, without the credentials that it repeats", async () => {
    const { world } = shopBot();
    await world.write(
      "c1",
      "run async () => { try { await shop.get_order({ id: 'missing' }); } catch (error) { return error.message; } }",
    );
    await expectShown(world, "The service answered 404");
    expect(world.chats.visible("c1").join()).toContain("You sent [hidden]");
    const failed = log.find(({ event }) => event === "code.service-failed");
    expect(failed).toMatchObject({ connector: "shop", reason: "404" });
  });

  it("gets no call that cannot fit, and nobody is asked about one", async () => {
    const { calls, world } = shopBot();
    await world.write(
      "c1",
      "run async () => { const all = []; for (const one of [{}, { id: 'A1', force: true }, 'A1']) try { await shop.refund(one); } catch (error) { all.push(error.message); } return all; }",
    );
    await expectShown(world, "id: is missing");
    const said = world.chats.visible("c1").join();
    expect(said).toContain("force: is not known. Known are: id");
    expect(said).toContain("must be an object");
    expect(world.chats.button("c1", "Approve")).toBeUndefined();
    expect(calls).toEqual([]);
  });

  it("gets a change again with the same key after the process has died in it", async () => {
    const killer = killerAt([/UPDATE code_call_v1 SET state = \?, result/, 3], "before");
    const bot = shopBot({ onStart: (agent) => killer.arm(agent) });
    const { chats } = bot.world;
    await bot.world.write("c1", REFUND);
    await expectShown(bot.world, "Refunds an order");
    const token = chats.button("c1", "Approve") ?? "";
    await vi.waitFor(async () => {
      const press = { kind: "press", id: "p", chat: "c1", user: "ada", text: token } as const;
      expect(await bot.world.post(press).catch(() => 500)).toBe(200);
    }, 8000);
    await vi.waitFor(
      async () => {
        await runDurableObjectAlarm(bot.world.thread("c1")).catch(() => undefined);
        expect(chats.visible("c1").join()).toContain("Told:");
      },
      { timeout: 15_000, interval: 50 },
    );
    expect(killer.hasStruck()).toBe(true);
    expect(chats.visible("c1").join()).toContain('"result":40');
    const [note, refund, again] = bot.keys;
    expect(bot.keys).toHaveLength(3);
    expect(refund).not.toBe(note);
    expect(again).toBe(refund);
  });
});

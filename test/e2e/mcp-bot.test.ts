import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandFile } from "../../lab/support/served-bot.ts";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import type { SimChat } from "../../playground/telegram/simulator.ts";

const root = path.resolve(import.meta.dirname, "../..");
const ADMIN_TOKEN = "of-the-operator";

let warehouse: Rig;
let buyer: Rig;
let ada: SimChat;

/** Runs a command of `switchboard` about the warehouse's bot, and returns what it printed. */
async function command(...words: readonly string[]): Promise<Record<string, unknown>> {
  const parameters = ["--config", "examples/mcp-bot/wrangler.jsonc", "--url", warehouse.bot.url, "--json"];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [commandFile(), "token", ...words, ...parameters],
    { cwd: root, env: { ...process.env, ADMIN_TOKEN } },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function connect(token: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", warehouse.bot.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

const shown = (rig: Rig, chat: SimChat) =>
  rig.simulator
    .messages(chat)
    .filter(({ from }) => from.isBot)
    .map(({ text }) => text);

beforeAll(async () => {
  warehouse = await startRig({ config: "examples/mcp-bot/wrangler.jsonc", env: { ADMIN_TOKEN } });
  warehouse.model.script(() => [say("Hello.")]);
  const user = warehouse.simulator.addUser({ id: 4711, first_name: "Ada" });
  ada = warehouse.simulator.privateChat(user);
  warehouse.simulator.sendText(ada, user, "Hi");
  await warehouse.simulator.waitFor(() => shown(warehouse, ada).includes("Hello."));
  const made = await command(
    "create",
    "buyer",
    "--scope",
    "stock:reserve",
    "stock:discard",
    "--person",
    "telegram:4711",
  );
  buyer = await startRig({
    config: "examples/mcp-bot/buyer/wrangler.jsonc",
    env: { WAREHOUSE_URL: warehouse.bot.url, WAREHOUSE_TOKEN: String(made["token"]) },
  });
});
afterAll(async () => {
  await buyer.close();
  await warehouse.close();
});

describe("a bot whose actions another bot uses", () => {
  it("reserves what a person asks the other bot for", async () => {
    buyer.model.script((request) =>
      request.messages.at(-1)?.role === "tool"
        ? [say(`The warehouse says: ${JSON.stringify(request.messages.at(-1)?.content)}`)]
        : [callTool("warehouse__reserve", { order: "7", sku: "mug-red", quantity: 2 })],
    );
    const grace = buyer.simulator.addUser();
    const chat = buyer.simulator.privateChat(grace);
    buyer.simulator.sendText(chat, grace, "Buy me two red mugs");
    await buyer.simulator.waitFor(() => shown(buyer, chat).some((text) => text.includes("taken")));
    expect(shown(buyer, chat)[0]).toContain('"free":1');
    const offered = buyer.model.requests()[0]?.tools;
    expect(offered).toEqual(expect.arrayContaining(["warehouse__stock", "warehouse__reserve"]));
  });

  it("asks a person of its own before it throws something away", async () => {
    const { token } = (await command(
      "create",
      "tidy",
      "--scope",
      "stock:discard",
      "--person",
      "telegram:4711",
    )) as {
      readonly token: string;
    };
    const client = await connect(token);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "warehouse__stock",
      "warehouse__discard",
      "warehouse__task",
    ]);
    const call = { sku: "tea-green", quantity: 10, why: "too old" };
    const waiting = await client.callTool({ name: "warehouse__discard", arguments: call });
    const { taskId } = waiting.structuredContent as { readonly taskId: string };
    const card = () =>
      warehouse.simulator
        .messages(ada)
        .find(({ text }) => text.includes("Throw away 10 × tea-green: too old"));
    await warehouse.simulator.waitFor(() => card() !== undefined);
    warehouse.simulator.pressButton(ada, { id: 4711 }, card()?.id ?? 0, "Approve");
    await expect
      .poll(
        async () => {
          const looked = await client.callTool({ name: "warehouse__task", arguments: { taskId } });
          return looked.structuredContent;
        },
        { timeout: 20_000 },
      )
      .toEqual({ taken: 10, free: 30 });
    await client.close();
  });

  it("refuses a token from the moment when it is revoked", async () => {
    const made = await command("create", "short");
    const { id } = made["record"] as { readonly id: string };
    const client = await connect(String(made["token"]));
    const listed = await command("list");
    expect(listed["tokens"]).toContainEqual(expect.objectContaining({ id, name: "short" }));
    expect(await command("revoke", id)).toEqual({ revoked: id });
    await expect(client.listTools()).rejects.toThrow("unauthorized");
    await client.close();
  });
});

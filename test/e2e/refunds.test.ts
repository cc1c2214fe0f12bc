import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRig, type Rig } from "../../lab/support/rig.ts";

/** A shop that refunds once for each key, and never answers the first request for a refund. */
function createSlowShop() {
  const addresses: string[] = [];
  const refunds = new Map<string, { readonly id: string; readonly amountCents: number }>();
  let requests = 0;
  const send = (response: ServerResponse, body: unknown): void => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    // The bot asks for the order before it shows what would change.
    if (request.method === "GET")
      return send(response, { id: "1002", status: "processing", totalCents: 8900 });
    void json(request).then((body) => {
      if (request.url?.endsWith("/address") === true) {
        addresses.push((body as { readonly address: string }).address);
        return send(response, {});
      }
      const key = String(request.headers["idempotency-key"]);
      const { amountCents } = body as { readonly amountCents: number };
      if (!refunds.has(key)) refunds.set(key, { id: `R-${refunds.size + 1}`, amountCents });
      requests += 1;
      if (requests > 1) send(response, { ...refunds.get(key), status: "refunded", currency: "EUR" });
    });
  });
  return { server, addresses, refunds, requests: () => requests };
}

let rig: Rig;
const shop = createSlowShop();

beforeAll(async () => {
  shop.server.listen(0, "127.0.0.1");
  await once(shop.server, "listening");
  rig = await startRig({
    simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
    env: {
      ORDERS_API_URL: `http://127.0.0.1:${(shop.server.address() as AddressInfo).port}`,
      // The demo model answers.
      OPENAI_BASE_URL: "",
      OPENAI_API_KEY: "",
      MODEL: "",
    },
  });
});

afterAll(async () => {
  await rig.close();
  shop.server.closeAllConnections();
  shop.server.close();
});

it("refunds once and says so once when the bot dies between the press and the outcome (I9)", async () => {
  const { simulator } = rig;
  const until = (condition: () => boolean) => simulator.waitFor(condition, { timeoutMs: 30_000 });
  const user = simulator.addUser();
  const chat = simulator.privateChat(user);
  const fromBot = () => simulator.messages(chat).filter(({ from }) => from.isBot);
  const card = () => fromBot().find(({ text }) => text.includes("Refund 89.00 € for order 1002"));

  simulator.sendText(chat, user, "Please refund 89 € for order 1002");
  await until(() => (card()?.buttons.length ?? 0) > 0);
  expect(card()?.text).toContain("Is this OK?");
  expect(shop.requests()).toBe(0);

  simulator.pressButton(chat, user, card()?.id ?? 0, "Approve");
  await until(() => shop.requests() === 1);
  await rig.bot.kill("SIGKILL");
  await rig.bot.restart();

  const outcomes = () =>
    fromBot().filter(({ text }) => text.includes("R-1") && text.startsWith("Approved by"));
  await until(() => outcomes().length > 0 && card()?.text.startsWith("Done") === true);
  expect([...shop.refunds.values()]).toEqual([{ id: "R-1", amountCents: 8900 }]);
  expect(shop.requests()).toBe(2);
  expect(card()?.buttons).toEqual([]);

  // Whatever would be said twice would come before the answer to this.
  simulator.sendText(chat, user, "thanks");
  await until(() => fromBot().at(-1)?.text.includes("You're welcome") === true);
  expect(outcomes()).toHaveLength(1);
});

it("sends an order to an address again that it had before", async () => {
  const { simulator } = rig;
  const user = simulator.addUser();
  const chat = simulator.privateChat(user);
  const asking = () => simulator.messages(chat).find(({ text }) => text.startsWith("Is this OK?"));
  const wanted = ["5 Main St., Berlin", "7 Side St., Bonn", "5 Main St., Berlin"];
  for (const [index, address] of wanted.entries()) {
    simulator.sendText(chat, user, `change the address of order 1002 to ${address}`);
    await simulator.waitFor(() => asking() !== undefined, { timeoutMs: 30_000 });
    simulator.pressButton(chat, user, asking()?.id ?? 0, "Approve");
    const told = () => simulator.messages(chat).filter(({ text }) => text.startsWith("Approved by"));
    await simulator.waitFor(() => told().length === index + 1, { timeoutMs: 30_000 });
  }
  expect(shop.addresses).toEqual(wanted);
});

import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { SharedDeath } from "./shared-death.ts";

/** A shop that refunds once for each key, and never answers the first request for an order of `hangs`. */
function createSlowShop() {
  const addresses: string[] = [];
  const refunds = new Map<string, { readonly id: string; readonly amountCents: number }>();
  const requests: string[] = [];
  const hangs = new Set<string>();
  const send = (response: ServerResponse, body: unknown): void => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    // The bot asks for the order before it shows what would change.
    if (request.method === "GET") {
      const id = request.url?.split("/").at(-1);
      return send(response, { id, status: "processing", totalCents: 8900 });
    }
    void json(request).then((body) => {
      if (request.url?.endsWith("/address") === true) {
        addresses.push((body as { readonly address: string }).address);
        return send(response, {});
      }
      const key = String(request.headers["idempotency-key"]);
      const { amountCents, orderId } = body as { readonly amountCents: number; readonly orderId: string };
      if (!refunds.has(key)) refunds.set(key, { id: `R-${refunds.size + 1}`, amountCents });
      requests.push(orderId);
      if (!hangs.delete(orderId))
        send(response, { ...refunds.get(key), status: "refunded", currency: "EUR" });
    });
  });
  return { server, addresses, hangs, refunds, requests };
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
    },
    withDemo: true,
  });
});

afterAll(async () => {
  await rig.close();
  shop.server.closeAllConnections();
  shop.server.close();
});

/** Moments of a refund at which the process of the bot ends. */
const KILLS = {
  "while the card waits": { order: "1002", at: "asked" },
  "with the press": { order: "1003", at: "pressed" },
  "while the shop works": { order: "1004", at: "asked the shop" },
  "when the shop has answered": { order: "1005", at: "answered" },
} as const;

const death = new SharedDeath(() => rig);

for (const [when, { at, order }] of Object.entries(KILLS)) {
  death.it(`refunds once and says so once when the bot is killed ${when} (I9)`, async ({ die }) => {
    const { simulator } = rig;
    const until = (condition: () => boolean) => simulator.waitFor(condition);
    const user = simulator.addUser();
    const chat = simulator.privateChat(user);
    const fromBot = () => simulator.messages(chat).filter(({ from }) => from.isBot);
    const card = () => fromBot().find(({ text }) => text.includes(`Refund 89.00 € for order ${order}`));
    const requests = () => shop.requests.filter((one) => one === order).length;
    const press = () => void simulator.pressButton(chat, user, card()?.id ?? 0, "Approve");
    if (at === "asked the shop") shop.hangs.add(order);

    simulator.sendText(chat, user, `Please refund 89 € for order ${order}`);
    await until(() => (card()?.buttons.length ?? 0) > 0);
    expect(card()?.text).toContain(`Refund 89.00 € for order ${order}?`);
    expect(requests()).toBe(0);
    if (at === "asked") await die();

    if (at === "pressed") await die({ with: press });
    else press();
    await until(() => requests() === 1);
    if (at === "asked the shop" || at === "answered") await die();

    const outcomes = () => fromBot().filter(({ text }) => text.startsWith("Approved by"));
    await until(
      () => outcomes()[0]?.text.includes("R-") === true && card()?.text.startsWith("Done") === true,
    );
    expect(shop.refunds.get(`refund-${order}`)).toEqual({
      id: expect.any(String) as string,
      amountCents: 8900,
    });
    if (at === "asked the shop") expect(requests()).toBe(2);
    expect(card()?.buttons).toEqual([]);

    // Whatever would be said twice would come before the answer to this.
    simulator.sendText(chat, user, "thanks");
    await until(() => fromBot().at(-1)?.text.includes("You're welcome") === true);
    expect(outcomes()).toHaveLength(1);
  });
}

it("sends an order to an address again that it had before", async () => {
  const { simulator } = rig;
  const user = simulator.addUser();
  const chat = simulator.privateChat(user);
  const asking = () => simulator.messages(chat).find(({ buttons }) => buttons.length > 0);
  const wanted = ["5 Main St., Berlin", "7 Side St., Bonn", "5 Main St., Berlin"];
  for (const [index, address] of wanted.entries()) {
    simulator.sendText(chat, user, `change the address of order 1002 to ${address}`);
    await simulator.waitFor(() => asking() !== undefined);
    simulator.pressButton(chat, user, asking()?.id ?? 0, "Approve");
    const told = () => simulator.messages(chat).filter(({ text }) => text.startsWith("Approved by"));
    await simulator.waitFor(() => told().length === index + 1);
  }
  expect(shop.addresses).toEqual(wanted);
});

it("brings the card of a waiting refund into the supergroup that its group becomes", async () => {
  const { simulator } = rig;
  const until = (condition: () => boolean) => simulator.waitFor(condition);
  const ada = simulator.addUser();
  const group = simulator.addGroup({ title: "Shop", type: "group", members: [ada] });
  const cardIn = (chat: typeof group) =>
    simulator
      .messages(chat)
      .find(({ buttons, text }) => buttons.length > 0 && text.includes("for order 1006?"));
  simulator.sendText(group, ada, "@switchboard_bot Please refund 89 € for order 1006");
  await until(() => cardIn(group) !== undefined);
  const upgraded = simulator.upgradeGroup(group);
  await until(() => cardIn(upgraded) !== undefined);
  simulator.pressButton(upgraded, ada, cardIn(upgraded)?.id ?? 0, "Approve");
  await until(() => simulator.messages(upgraded).some(({ text }) => text.startsWith("Approved by")));
  expect(shop.requests.filter((order) => order === "1006")).toHaveLength(1);
});

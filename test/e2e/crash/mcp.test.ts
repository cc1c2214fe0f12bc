import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { say } from "../../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import type { SimChat } from "../../../playground/telegram/simulator.ts";
import { SharedDeath } from "../shared-death.ts";

const ADMIN_TOKEN = "of-the-operator";
const ADA = { id: 4711 };

/** Moments at which the bank can hold a payment: before it pays, and before it says that it has. */
type Moment = "before the effect" | "after the effect";

/** A bank that pays each order as often as it is asked. */
class Bank {
  readonly paid: string[] = [];
  /** Orders that are held, and when. */
  readonly held = new Map<string, Moment>();
  readonly #waiting = new Map<string, () => void>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const order = (request.url ?? "").slice(1);
      if (request.method === "GET") return this.#answer(response, order, this.paid.includes(order));
      const moment = this.held.get(order);
      if (moment !== "before the effect") this.paid.push(order);
      if (moment === undefined) return this.#answer(response, order, true);
      // The bot dies, so it never gets an answer.
      this.#waiting.get(order)?.();
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Holds an order. Resolves when the bot asks for it. */
  hold(order: string, moment: Moment): Promise<void> {
    this.held.set(order, moment);
    return new Promise((resolve) => void this.#waiting.set(order, resolve));
  }

  timesPaid(order: string): number {
    return this.paid.filter((one) => one === order).length;
  }

  #answer(response: ServerResponse, order: string, isPaid: boolean): void {
    response.writeHead(isPaid ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ order, receipt: `R-${order}` }));
  }
}

describe("SIGKILL while another agent calls an action", () => {
  const bank = new Bank();
  let rig: Rig;
  let chat: SimChat;
  const tokens: Record<string, Promise<string>> = {};

  beforeAll(async () => {
    rig = await startRig({
      config: "test/e2e/bots/tools/wrangler.jsonc",
      simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
      env: { ADMIN_TOKEN, BANK_URL: await bank.open() },
    });
    rig.model.script(() => [say("Hello.")]);
    const ada = rig.simulator.addUser({ ...ADA, first_name: "Ada" });
    chat = rig.simulator.privateChat(ada);
    rig.simulator.sendText(chat, ada, "Hi");
    await rig.simulator.waitFor(() => texts().includes("Hello."));
  });
  afterAll(async () => {
    await rig.close();
    bank.close();
  });

  const texts = () => rig.simulator.messages(chat).map(({ text }) => text);
  const death = new SharedDeath(() => rig);

  /** Returns a token of an agent that pays this order only: one agent cannot have so many calls at once. */
  async function newToken(order: string): Promise<string> {
    const response = await fetch(`${rig.bot.url}/switchboard/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify({
        name: order,
        scopes: ["*"],
        person: { messenger: "telegram", userId: "4711" },
      }),
    });
    return ((await response.json()) as { readonly token: string }).token;
  }

  /** Sends one request, always the same for an order. */
  async function call(tool: string, order: string): Promise<Record<string, unknown>> {
    const id = `call-${order}-of-the-agent`;
    return ask(order, "tools/call", { name: `bank__${tool}`, arguments: { order } }, id);
  }

  async function ask(order: string, method: string, params: Record<string, unknown>, id: string) {
    const token = await (tokens[order] ??= newToken(order));
    const version = "2026-07-28";
    const response = await fetch(`${rig.bot.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": method,
        "mcp-name": String(params["name"] ?? params["taskId"]),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id,
        method,
        params: {
          ...params,
          _meta: {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { name: "agent", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": {
              extensions: { "io.modelcontextprotocol/tasks": {} },
            },
          },
        },
      }),
    });
    const text = await response.text();
    const data = [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? text;
    return (JSON.parse(data) as { readonly result: Record<string, unknown> }).result;
  }

  const receipt = (order: string) => ({ structuredContent: { order, receipt: `R-${order}` } });
  const UNKNOWN = { isError: true, structuredContent: { code: -32005, name: "ActionPendingError" } };

  for (const [tool, moment, times] of [
    ["pay", "before the effect", 0],
    ["pay", "after the effect", 1],
    ["pay_verified", "before the effect", 1],
    ["pay_verified", "after the effect", 1],
  ] as const) {
    death.it(`${tool}, ${moment}: the agent tries again, and it is paid ${times} times`, async ({ die }) => {
      const order = `${tool}-${moment.split(" ", 1)[0]}`;
      const held = bank.hold(order, moment);
      const dead = call(tool, order).catch(() => "dead" as const);
      await held;
      await die();
      expect(await dead).toBe("dead");
      bank.held.delete(order);
      const again = [await call(tool, order), await call(tool, order)];
      expect(again[0]).toMatchObject(tool === "pay_verified" ? receipt(order) : UNKNOWN);
      expect(again[1]).toEqual(again[0]);
      expect(bank.timesPaid(order)).toBe(times);
    });
  }

  death.it("answers as before if it dies behind its answer", async ({ die }) => {
    const first = await call("pay", "answered");
    expect(first).toMatchObject(receipt("answered"));
    await die();
    expect(await call("pay", "answered")).toEqual(first);
    expect(bank.timesPaid("answered")).toBe(1);
  });

  for (const moment of ["before the effect", "after the effect"] as const) {
    death.it(
      `asks once, and pays at most once if it dies while it waits and ${moment} of an approved payment`,
      async ({ die }) => {
        const order = `approved-${moment.split(" ", 1)[0]}`;
        const waiting = await call("pay_approved", order);
        expect(waiting).toMatchObject({ resultType: "task", status: "working" });
        await die();
        expect(await call("pay_approved", order)).toMatchObject({ taskId: waiting["taskId"] });
        const card = () =>
          rig.simulator.messages(chat).filter(({ text }) => text.includes(`Pay order ${order}`));
        await rig.simulator.waitFor(() => card().length > 0);
        const held = bank.hold(order, moment);
        rig.simulator.pressButton(chat, ADA, card()[0]?.id ?? 0, "Approve");
        await held;
        await die();
        bank.held.delete(order);
        const looked = () => ask(order, "tasks/get", { taskId: waiting["taskId"] }, crypto.randomUUID());
        await expect.poll(async () => (await looked())["status"], { timeout: 30_000 }).toBe("completed");
        expect(await looked()).toMatchObject({ result: UNKNOWN });
        expect(await call("pay_approved", order)).toMatchObject(UNKNOWN);
        expect(bank.timesPaid(order)).toBe(moment === "after the effect" ? 1 : 0);
        expect(card()).toHaveLength(1);
      },
    );
  }
});

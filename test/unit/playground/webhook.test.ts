import { afterEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { Simulator, SimulatorOptions } from "../../../playground/telegram/simulator.ts";
import { apiOf, startWebhook } from "./echo-bot.ts";
import type { WebhookServer } from "./echo-bot.ts";
import { createManualClock } from "./manual-clock.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(
  onUpdate: Parameters<typeof startWebhook>[0],
  options: SimulatorOptions = {},
): Promise<{ simulator: Simulator; webhook: WebhookServer }> {
  const webhook = await startWebhook(onUpdate);
  const simulator = await startSimulator({ redelivery: { baseMs: 1, maxMs: 4 }, ...options });
  open.push(webhook, simulator);
  simulator.setWebhook(webhook.url, "secret-1");
  return { simulator, webhook };
}

describe("the webhook", () => {
  it("gets updates with the secret, numbered one after the other", async () => {
    const { simulator, webhook } = await start(() => ({ status: 200 }));
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    simulator.sendText(chat, alice, "One");
    simulator.sendText(chat, alice, "Two");
    await simulator.waitFor(() => simulator.updates().every((record) => record.state === "delivered"));
    expect(webhook.received.map(({ update }) => update.message?.text)).toEqual(["One", "Two"]);
    expect(webhook.received.map(({ headers }) => headers["x-telegram-bot-api-secret-token"])).toEqual([
      "secret-1",
      "secret-1",
    ]);
    const [first, second] = webhook.received.map(({ update }) => update.update_id);
    expect(second).toBe((first ?? 0) + 1);
  });

  it("gets an update again until it answers 2xx, and nothing of that chat overtakes", async () => {
    const answers: ("cut" | { status: number })[] = [{ status: 500 }, "cut", { status: 302 }];
    const { simulator, webhook } = await start(() => answers.shift() ?? { status: 200 });
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    simulator.sendText(chat, alice, "One");
    simulator.sendText(chat, alice, "Two");
    await simulator.waitFor(() => simulator.updates().every((record) => record.state === "delivered"));
    expect(webhook.received.map(({ update }) => update.message?.text)).toEqual([
      "One",
      "One",
      "One",
      "One",
      "Two",
    ]);
    expect(simulator.updates()[0]?.attempts.map((attempt) => attempt.status ?? attempt.error)).toEqual([
      500,
      "Connection reset by peer",
      302,
      200,
    ]);
  });

  it("does not hold up other chats, nor presses of buttons, behind one that fails", async () => {
    const { simulator, webhook } = await start((update) => ({
      status: update.message?.text === "Stuck" ? 500 : 200,
    }));
    const alice = simulator.addUser();
    const bob = simulator.addUser();
    const stuck = simulator.privateChat(alice);
    simulator.sendText(stuck, alice, "Stuck");
    simulator.sendText(stuck, alice, "Waiting");
    simulator.sendText(simulator.privateChat(bob), bob, "Free");
    simulator.pressData(stuck, alice, 1, "press");
    await simulator.waitFor(
      () => simulator.updates().filter((record) => record.state === "delivered").length === 2,
    );
    const received = webhook.received.map(
      ({ update }) => update.message?.text ?? update.callback_query?.data,
    );
    expect(received).toContain("Free");
    expect(received).toContain("press");
    expect(received).not.toContain("Waiting");
  });

  it("gets at most as many at once as it allows", async () => {
    let atOnce = 0;
    let most = 0;
    const { simulator } = await start(
      async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        atOnce -= 1;
        return { status: 200 };
      },
      { maxConnections: 3 },
    );
    for (let index = 0; index < 12; index += 1) {
      const user = simulator.addUser();
      simulator.sendText(simulator.privateChat(user), user, "Hello");
    }
    await simulator.waitFor(() => simulator.updates().every((record) => record.state === "delivered"));
    expect(most).toBe(3);
  });

  it("may answer with a method", async () => {
    const { simulator } = await start((update) => ({
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ method: "sendMessage", chat_id: update.message?.chat.id, text: "Echo" }),
    }));
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    simulator.sendText(chat, alice, "Hello");
    await simulator.waitFor(() => simulator.messages(chat).length === 2);
    expect(simulator.messages(chat)[1]).toMatchObject({ text: "Echo", from: { isBot: true } });
    expect(simulator.calls({ method: "sendMessage" })).toMatchObject([{ outcome: "ok" }]);
  });

  it("is waited for while the bot is down, with delays that double up to a limit", async () => {
    const clock = createManualClock();
    const simulator = await startSimulator({ clock, redelivery: { baseMs: 1000, maxMs: 4000 } });
    open.push(simulator);
    simulator.setWebhook("http://127.0.0.1:9/nobody");
    const alice = simulator.addUser();
    simulator.sendText(simulator.privateChat(alice), alice, "Hello");
    const attempts = (): number => simulator.updates()[0]?.attempts.length ?? 0;
    for (const [index, delayMs] of [1000, 2000, 4000, 4000].entries()) {
      await simulator.waitFor(() => attempts() === index + 1);
      clock.advance(delayMs - 1);
      expect(attempts()).toBe(index + 1);
      clock.advance(1);
    }
    await simulator.waitFor(() => attempts() === 5);
    expect(simulator.webhookProblem()).toBe("Connection refused");
    const info = await apiOf(simulator).getWebhookInfo();
    expect(info).toMatchObject({ pending_update_count: 1, last_error_message: "Connection refused" });
  });

  it("loses an update after a day, and a press after 150 seconds", async () => {
    const clock = createManualClock();
    const simulator = await startSimulator({ clock });
    open.push(simulator);
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    const { message_id } = simulator.sendText(chat, alice, "Hello");
    simulator.pressData(chat, alice, message_id, "x");
    clock.advance(151_000);
    simulator.setWebhook("http://127.0.0.1:9/nobody");
    expect(simulator.updates().map((record) => record.state)).toEqual(["pending", "given-up"]);
    clock.advance(86_400_000);
    simulator.redeliverNow();
    await simulator.waitFor(() => simulator.updates()[0]?.state === "given-up");
  });

  it("gets only the kinds that it asked for", async () => {
    const { simulator } = await start(() => ({ status: 200 }));
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    const { message_id } = simulator.sendText(chat, alice, "One");
    simulator.react(chat, alice, message_id, "👍");
    expect(simulator.updates().map((record) => record.kind)).toEqual(["message"]);
    await apiOf(simulator).setWebhook("http://127.0.0.1:9/x", { allowed_updates: ["message_reaction"] });
    simulator.sendText(chat, alice, "Two");
    simulator.react(chat, alice, message_id, "🔥");
    expect(simulator.updates().map((record) => record.kind)).toEqual(["message", "message_reaction"]);
  });

  it("gets the same update twice when it is posted again", async () => {
    const { simulator, webhook } = await start(() => ({ status: 200 }));
    const alice = simulator.addUser();
    simulator.sendText(simulator.privateChat(alice), alice, "Once");
    await simulator.waitFor(() => webhook.received.length === 1);
    const [record] = simulator.updates();
    simulator.postUpdate(record?.update ?? {});
    await simulator.waitFor(() => webhook.received.length === 2);
    expect(webhook.received[1]?.update).toEqual(webhook.received[0]?.update);
  });

  it("takes any raw update as it is", async () => {
    const { simulator, webhook } = await start(() => ({ status: 200 }));
    simulator.postUpdate({ update_id: 42, poll: { id: "1" } });
    await simulator.waitFor(() => webhook.received.length === 1);
    expect(webhook.received[0]?.update).toEqual({ update_id: 42, poll: { id: "1" } });
  });
});

describe("getUpdates", () => {
  it("is refused while a webhook is set, and otherwise hands over and confirms", async () => {
    const simulator = await startSimulator();
    open.push(simulator);
    const api = apiOf(simulator);
    const alice = simulator.addUser();
    const chat = simulator.privateChat(alice);
    simulator.setWebhook("http://127.0.0.1:9/nobody");
    await expect(api.getUpdates()).rejects.toThrow(
      "409: Conflict: can't use getUpdates method while webhook is active",
    );
    await api.deleteWebhook();
    const waiting = api.getUpdates({ timeout: 30 });
    await simulator.waitFor(() => simulator.calls({ method: "getUpdates" }).length === 2);
    simulator.sendText(chat, alice, "Hello");
    const [update] = await waiting;
    expect(update?.message?.text).toBe("Hello");
    expect(await api.getUpdates({ offset: (update?.update_id ?? 0) + 1 })).toEqual([]);
    expect(simulator.updates()[0]?.state).toBe("delivered");
  });
});

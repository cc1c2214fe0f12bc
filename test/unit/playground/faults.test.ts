import { GrammyError, HttpError } from "grammy";
import type { Api } from "grammy";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realFloodRules, startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { apiOf } from "./echo-bot.ts";
import { createManualClock } from "./manual-clock.ts";
import type { ManualClock } from "./manual-clock.ts";

let clock: ManualClock;
let simulator: Simulator;
let api: Api;
let alice: User;
let chat: SimChat;

async function begin(flood: boolean): Promise<void> {
  clock = createManualClock();
  simulator = await startSimulator({ clock, flood: flood ? realFloodRules : false });
  api = apiOf(simulator);
  alice = simulator.addUser({ first_name: "Alice" });
  chat = simulator.privateChat(alice);
}

const texts = (): readonly string[] => simulator.messages(chat).map((message) => message.text);

afterEach(() => simulator.close());

describe("faults", () => {
  beforeEach(() => begin(false));

  it("answer 429 with the seconds to wait, once", async () => {
    simulator.fault({ kind: "429", retryAfter: 7, method: "sendMessage" });
    const refusal = await api.sendMessage(chat.id, "x").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(GrammyError);
    expect(refusal).toMatchObject({
      error_code: 429,
      description: "Too Many Requests: retry after 7",
      parameters: { retry_after: 7 },
    });
    await api.sendMessage(chat.id, "y");
    expect(texts()).toEqual(["y"]);
  });

  it("hit only what their rule says", async () => {
    const other = simulator.privateChat(simulator.addUser());
    const remove = simulator.fault({
      kind: "403",
      description: "nope",
      chatId: chat.id,
      skip: 1,
      times: Infinity,
    });
    await api.sendMessage(chat.id, "passes");
    await api.sendMessage(other.id, "passes");
    await expect(api.sendMessage(chat.id, "x")).rejects.toThrow("403: Forbidden: nope");
    await expect(api.sendChatAction(chat.id, "typing")).rejects.toThrow("403: Forbidden: nope");
    remove();
    await api.sendMessage(chat.id, "passes again");
    expect(simulator.calls({ chatId: chat.id }).map((call) => call.outcome)).toEqual([
      "ok",
      "error",
      "error",
      "ok",
    ]);
  });

  it("answer as a proxy in front of Telegram does", async () => {
    simulator.fault({ kind: "5xx" });
    const response = await fetch(`${simulator.url}/bot${simulator.token}/getMe`);
    expect(response.status).toBe(502);
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(await response.text()).toContain("<h1>502 Bad Gateway</h1>");
  });

  it("cut the connection before or after the work is done", async () => {
    simulator.fault({ kind: "cut-before" });
    await expect(api.sendMessage(chat.id, "before")).rejects.toBeInstanceOf(HttpError);
    expect(texts()).toEqual([]);
    simulator.fault({ kind: "cut-after" });
    await expect(api.sendMessage(chat.id, "after")).rejects.toBeInstanceOf(HttpError);
    expect(texts()).toEqual(["after"]);
    expect(simulator.calls()).toMatchObject([
      { outcome: "dropped", processed: false, fault: "cut-before" },
      { outcome: "dropped", processed: true, fault: "cut-after", messageId: 1 },
    ]);
  });

  it("let a call arrive late, after other messages", async () => {
    simulator.fault({ kind: "late", delayMs: 3000 });
    await expect(api.sendMessage(chat.id, "late")).rejects.toBeInstanceOf(HttpError);
    await api.sendMessage(chat.id, "meanwhile");
    expect(texts()).toEqual(["meanwhile"]);
    clock.advance(3000);
    expect(texts()).toEqual(["meanwhile", "late"]);
  });

  it("answer slowly", async () => {
    simulator.fault({ kind: "slow", delayMs: 3000 });
    const sent = api.sendMessage(chat.id, "slow");
    await simulator.waitFor(() => simulator.calls({ outcome: "pending" }).length === 1);
    expect(texts()).toEqual([]);
    clock.advance(3000);
    await sent;
    expect(texts()).toEqual(["slow"]);
  });

  it("never answer, until the bot gives up", async () => {
    simulator.fault({ kind: "hang", processed: true });
    const controller = new AbortController();
    const sent = fetch(`${simulator.url}/bot${simulator.token}/sendMessage?chat_id=${chat.id}&text=hang`, {
      signal: controller.signal,
    });
    await simulator.waitFor(() => texts().length === 1);
    controller.abort();
    await expect(sent).rejects.toThrow("aborted");
    await simulator.waitFor(() => simulator.calls({ outcome: "dropped" }).length === 1);
  });
});

describe("flood rules", () => {
  beforeEach(() => begin(true));

  const retryAfterOf = (chatId: number): Promise<number> =>
    api.sendChatAction(chatId, "typing").then(
      () => 0,
      (error: unknown) => (error instanceof GrammyError ? (error.parameters.retry_after ?? -1) : -1),
    );

  it("allow a short burst, then one call a second", async () => {
    for (let index = 0; index < 5; index += 1) await api.sendMessage(chat.id, "x");
    expect(await retryAfterOf(chat.id)).toBe(5);
    clock.advance(5000);
    for (let index = 0; index < 4; index += 1) expect(await retryAfterOf(chat.id)).toBe(0);
  });

  it("do not count an edit of a message that is not there, which the server looks up before it edits", async () => {
    const editMissing = (): Promise<string> =>
      api.editMessageReplyMarkup(chat.id, 999).then(
        () => "",
        (error: unknown) => (error instanceof GrammyError ? error.description : String(error)),
      );
    for (let index = 0; index < 20; index += 1)
      expect(await editMissing()).toMatch(/message to edit not found/);
    for (let index = 0; index < 5; index += 1) expect(await retryAfterOf(chat.id)).toBe(0);
    expect(await retryAfterOf(chat.id)).toBe(5);
    // In a penalty it is refused, too.
    expect(await editMissing()).toMatch(/Too Many Requests/);
  });

  it("lengthen the penalty with each call during it", async () => {
    for (let index = 0; index < 5; index += 1) await api.sendMessage(chat.id, "x");
    expect(await retryAfterOf(chat.id)).toBe(5);
    expect(await retryAfterOf(chat.id)).toBe(8);
    expect(await retryAfterOf(chat.id)).toBe(11);
    clock.advance(10_999);
    expect(await retryAfterOf(chat.id)).toBe(4);
    clock.advance(4000);
    expect(await retryAfterOf(chat.id)).toBe(0);
  });

  it("allow twenty calls a minute in a group, and punish no other chat for more", async () => {
    const group = simulator.addGroup({ title: "G", members: [alice] });
    for (let index = 0; index < 20; index += 1) expect(await retryAfterOf(group.id)).toBe(0);
    expect(await retryAfterOf(group.id)).toBe(5);
    expect(await retryAfterOf(chat.id)).toBe(0);
  });

  it("never hold up the answer to a press", async () => {
    for (let index = 0; index < 5; index += 1) await api.sendMessage(chat.id, "x");
    expect(await retryAfterOf(chat.id)).toBe(5);
    const query = simulator.pressData(chat, alice, 1, "x");
    await api.answerCallbackQuery(query.id);
  });
});

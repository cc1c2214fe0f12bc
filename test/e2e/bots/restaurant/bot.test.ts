import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  answer,
  callTool,
  lastUserText,
  testBot,
  type ModelScript,
  type TestChat,
} from "switchboard/testing";
import { RestaurantBot } from "./worker.ts";

const CONFIG = "test/e2e/bots/restaurant/wrangler.jsonc";

/** A busy machine may need many times as long as a quiet one. */
const PATIENT = { timeoutMs: 60_000 };

let guest: TestChat;

beforeAll(async () => {
  guest = await testBot(RestaurantBot, { config: CONFIG, env: { MANAGER_ID: "4711" } });
});
afterAll(() => guest.bot.close());

/** Calls a tool when somebody says "please", and answers everything else with a sentence. */
function calls(tool: string, input: object): ModelScript {
  return (request) =>
    request.messages.at(-1)?.role === "user" && lastUserText(request).endsWith("please")
      ? [callTool(tool, input)]
      : [answer("Here you are.")];
}

describe("a test of a bot", () => {
  it("finds the file that an action has attached when reply() resolves", async () => {
    guest.bot.model.script(calls("send_menu", {}));
    guest.bot.fault({ kind: "slow", method: "sendDocument", delayMs: 1_000 });
    await guest.say("The menu, please");
    expect(await guest.reply(PATIENT)).toContain("Here you are.");
    expect(guest.messages().flatMap(({ attachments }) => attachments)).toMatchObject([
      { kind: "document", fileName: "menu.pdf" },
    ]);
  });

  it("finds the card in the approver's chat when settled() resolves, and the outcome after the press", async () => {
    const manager = guest.bot.person("Mia", { id: 4711 });
    await manager.say("Hello");
    await manager.reply(PATIENT);
    guest.bot.model.script(calls("book_table", { people: 12 }));
    guest.bot.fault({ kind: "slow", method: "sendMessage", chatId: 4711, delayMs: 1_000 });
    await guest.say("A table for twelve, please");
    await guest.settled(PATIENT);
    expect(manager.buttons()).toContain("Approve");
    await manager.press("Approve");
    await manager.settled(PATIENT);
    expect(guest.messages().at(-1)?.text).toBe("Here you are.");
  });

  it("finds a broadcast in every chat when reply() resolves", async () => {
    const neighbours = ["Ann", "Ben", "Cem"].map((name) => guest.bot.person(name));
    for (const neighbour of neighbours) {
      await neighbour.say("/subscribe");
      await neighbour.reply(PATIENT);
    }
    guest.bot.fault({ kind: "slow", method: "sendMessage", delayMs: 700, skip: 1, times: 3 });
    await guest.say("/announce Soup is back");
    expect(await guest.reply(PATIENT)).toBe("It is on its way.");
    for (const neighbour of neighbours) expect(neighbour.messages().at(-1)?.text).toBe("Soup is back");
  });

  it("is told which messages are still open when the time is up", async () => {
    guest.bot.model.script(calls("send_menu", {}));
    guest.bot.fault({ kind: "429", method: "sendDocument", retryAfter: 60 });
    await guest.say("The menu, please");
    const chatId = String(guest.chat.id);
    await expect(guest.settled({ timeoutMs: 5_000 })).rejects.toThrow(
      `The bot has not finished within 5 s.\nStill to do:\n  files in the chat ${chatId} (Alex)`,
    );
  });
});

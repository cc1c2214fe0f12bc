import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answer, callTool, lastUserText, testBot, type TestChat } from "switchboard/testing";
import { AskingBot } from "./worker.ts";

let chat: TestChat;

beforeAll(async () => {
  chat = await testBot(AskingBot, { config: "test/e2e/bots/asking/wrangler.jsonc" });
  chat.bot.model.script((request) => {
    const text = lastUserText(request);
    const [, tool = "", kind] = /call (\w+) ?(\w*)/.exec(text) ?? [];
    if (request.messages.at(-1)?.role !== "user") return [answer("One moment.")];
    if (tool !== "") return [callTool(tool, kind === "" ? {} : { kind })];
    return [answer(/^Result: (.*)$/m.exec(text)?.[1] ?? `Heard: ${text}`)];
  });
});
afterAll(() => chat.bot.close());

describe("a question of an action", () => {
  it("is answered by presses and messages of a test", async () => {
    const person = chat.bot.person("Mia");
    await person.say("call confirm");
    await person.settled();
    await person.press("Yes");
    expect(await person.reply()).toContain('{"answer":true}');

    await person.say("call elicit party");
    await person.settled();
    await person.answer("7");
    await person.settled();
    await person.press("Yes");
    await person.settled();
    await person.press("Skip");
    await person.settled();
    expect(person.buttons()).toEqual(["Send", "Change", "Not now"]);
    await person.press("Send");
    expect(await person.reply()).toContain('{"guests":7,"outside":true}');
  });

  it("is answered in a group by a quote, and not by others", async () => {
    const group = chat.bot.group("Friends", ["Ann", "Cem"]);
    await group.say("@switchboard_bot call elicit text");
    await group.settled();
    await group.as("Cem").answer("a boat");
    await group.settled();
    expect(group.buttons()).toEqual(["Not now"]);
    await group.answer("a kite");
    expect(await group.reply()).toContain("a kite");
    expect(group.buttons()).toEqual([]);
  });

  it("is answered on what `testBot` returns, too", async () => {
    const bot = chat;
    await bot.say("call elicit number");
    await bot.settled();
    await bot.answer("7");
    expect(await bot.reply()).toContain('"answer":"7"');
    await bot.say("call confirm");
    await bot.settled();
    await bot.press("Yes");
    expect(await bot.reply()).toContain('{"answer":true}');
  });

  it("says that nothing is asked, and which button is missing", async () => {
    const eve = chat.bot.person("Eve");
    await expect(eve.answer("7")).rejects.toThrow("The bot asks nothing in this chat.");
    await expect(eve.press("Yes")).rejects.toThrow('No message has a button "Yes".');
  });
});

import { describe, expect, it } from "vitest";
import { createTelegramRig } from "./telegram-rig.ts";

const signal = new AbortController().signal;

describe("the menu of commands on Telegram", () => {
  it("is for private chats and for groups", async () => {
    const { api, context, platform } = createTelegramRig();
    await platform.setCommands?.([{ name: "help", description: "Show the commands" }], context, signal, []);
    const commands = [{ command: "help", description: "Show the commands" }];
    expect(api.calls).toEqual([
      { method: "setMyCommands", payload: { commands, scope: { type: "all_private_chats" } } },
      { method: "setMyCommands", payload: { commands, scope: { type: "all_group_chats" } } },
    ]);
  });

  it("is in every language of the descriptions, and gone in those that it had before", async () => {
    const { api, context, platform } = createTelegramRig();
    const list = [
      { name: "hours", description: { en: "Opening hours", de: "Öffnungszeiten" } },
      { name: "help", description: "Show the commands" },
    ];
    await platform.setCommands?.(list, context, signal, ["fr"]);
    const told = api.calls.map(({ method, payload }) => [
      method,
      (payload.scope as { type: string }).type,
      payload.language_code,
      (payload.commands as { description: string }[] | undefined)?.map(({ description }) => description),
    ]);
    const english = ["Opening hours", "Show the commands"];
    const german = ["Öffnungszeiten", "Show the commands"];
    expect(told).toEqual([
      ["setMyCommands", "all_private_chats", undefined, english],
      ["setMyCommands", "all_group_chats", undefined, english],
      ["setMyCommands", "all_private_chats", "en", english],
      ["setMyCommands", "all_group_chats", "en", english],
      ["setMyCommands", "all_private_chats", "de", german],
      ["setMyCommands", "all_group_chats", "de", german],
      ["deleteMyCommands", "all_private_chats", "fr", undefined],
      ["deleteMyCommands", "all_group_chats", "fr", undefined],
    ]);
  });

  it("leaves out what Telegram would refuse the whole list for", async () => {
    const { api, context, platform } = createTelegramRig();
    const many = Array.from({ length: 120 }, (_, index) => ({ name: `c${index}`, description: "x" }));
    const odd = [
      { name: "Help", description: "x" },
      { name: "with-dash", description: "x" },
      { name: "empty", description: " " },
      { name: "long", description: "x".repeat(255) + "🙂" },
    ];
    await platform.setCommands?.([...odd, ...many], context, signal, []);
    const offered = api.calls[0]?.payload.commands as { command: string; description: string }[];
    expect(offered).toHaveLength(100);
    expect(offered.slice(0, 2).map(({ command }) => command)).toEqual(["long", "c0"]);
    expect(offered[0]?.description).toBe(`${"x".repeat(255)}…`);
  });

  it("is none where @BotFather's list is to stay", () => {
    expect(createTelegramRig({ commandMenu: false }).platform.setCommands).toBeUndefined();
  });
});

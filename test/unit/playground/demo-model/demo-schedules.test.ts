import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { demoReply } from "../../../../playground/demo-model/demo-reply.ts";

function user(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/** The reply to a message in a conversation that has gone on for a while, so without the notice. */
function say(text: string, tools: LanguageModelV4FunctionTool[] = []) {
  const before: LanguageModelV4Message = { role: "assistant", content: [{ type: "text", text: "Hello!" }] };
  return demoReply([user("hello"), before, user(text)], tools);
}

describe("schedules of the demo model", () => {
  const tools = ["remind_me", "schedule_digest"].map((name): LanguageModelV4FunctionTool => ({
    type: "function",
    name,
    inputSchema: { type: "object", properties: {}, required: ["text", "when"] },
  }));

  it.each([
    ["Remind me to order coffee in 2 minutes", "remind_me", "order coffee", "in 2 minutes"],
    ["remind me tomorrow at nine to call Ann!", "remind_me", "call Ann", "tomorrow at 09:00"],
    ["remind me of the rent on friday at 5 pm", "remind_me", "the rent", "on friday at 17:00"],
    ["please remind me about tea every 2 hours", "remind_me", "tea", "every 2 hours"],
    ["remind me at noon", undefined, "", ""],
    ["in 20 seconds", undefined, "", ""],
    ["remind me in 30 s to stretch", "remind_me", "stretch", "in 30 seconds"],
    ["remind me to stretch in 20 seconds", "remind_me", "stretch", "in 20 seconds"],
    ["remind me in 45s to stretch", "remind_me", "stretch", "in 45 seconds"],
    ["Remind me in a minute to stretch.", "remind_me", "stretch", "in 1 minute"],
    ["remind me to stretch in 5 min", "remind_me", "stretch", "in 5 minutes"],
    ["remind me to stretch in two mins", "remind_me", "stretch", "in 2 minutes"],
    ["remind me in half an hour to stretch", "remind_me", "stretch", "in 30 minutes"],
    ["remind me in half a minute to stretch", "remind_me", "stretch", "in 30 seconds"],
    ["remind me in a quarter of an hour to stretch", "remind_me", "stretch", "in 15 minutes"],
    ["remind me in an hour to stretch", "remind_me", "stretch", "in 1 hour"],
    ["remind me in 1.5 hours to stretch", "remind_me", "stretch", "in 90 minutes"],
    ["remind me in an hour and a half to stretch", "remind_me", "stretch", "in 90 minutes"],
    ["remind me in 2h to stretch", "remind_me", "stretch", "in 2 hours"],
    ["remind me in a few minutes to stretch", "remind_me", "stretch", "in 3 minutes"],
    ["remind me in a day to stretch", "remind_me", "stretch", "in 1 day"],
    ["remind me to stretch every 30 min", "remind_me", "stretch", "every 30 minutes"],
    ["remind me to stretch every hour", "remind_me", "stretch", "every 1 hour"],
    ["remind me to stretch every half hour", "remind_me", "stretch", "every 30 minutes"],
    ["remind me to look in a drawer in 3 days", "remind_me", "look in a drawer", "in 3 days"],
    ["remind me to eat every day at noon", "remind_me", "eat", "every day at 12:00"],
    [
      "send me a tip every monday at 8:15",
      "schedule_digest",
      "send me a tip",
      "every week on monday at 08:15",
    ],
    [
      "every weekday at 8 write me a digest",
      "schedule_digest",
      "write me a digest",
      "every weekday at 08:00",
    ],
    ["will you be there tomorrow at nine?", undefined, "", ""],
  ])("understands %s", (sentence, toolName, text, when) => {
    const [call] = say(sentence, tools).calls;
    expect(call?.toolName).toBe(toolName);
    if (toolName !== undefined) expect(call?.input).toEqual({ text, when });
  });

  it("writes a digest of the entries in a prompt, and of nothing else", () => {
    const entries = [{ title: "Library open late", link: "https://news.example/1" }, { title: "Rain" }];
    expect(say(`Write the digest.\n${JSON.stringify(entries)}`).text).toBe(
      "The news:\n\n- [Library open late](https://news.example/1)\n- Rain",
    );
    expect(say("hello [{not json}]").text).toMatch(/^Hello!/);
  });

  it("answers a prompt for a tip, and says that it cannot write a digest of nothing", () => {
    expect(say("Write one short tip about coffee or tea.").text).toMatch(/^Grind coffee just before/);
    expect(say("Write a digest of yesterday's loans.").text).toMatch(/^The demo can't write that digest/);
  });

  it("calls nothing that the bot does not offer", () => {
    expect(say("remind me to order coffee in 2 minutes").calls).toEqual([]);
  });
});

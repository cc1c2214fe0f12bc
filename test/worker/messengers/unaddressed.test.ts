import { describe, expect, it } from "vitest";
import type { MessengerOptions } from "../../../src/core/chat/messenger.ts";
import { captureLog } from "../support/log-lines.ts";
import { failWith, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const TEXTS = { errorResponseText: "Sorry.", emptyResponseText: "Nothing.", limitResponseText: "Enough." };

/** A group that a bot listens to, because somebody has mentioned it. */
async function listening(script: ModelScript, options: MessengerOptions = {}): Promise<World> {
  const world = createWorld({
    messenger: {
      burstMs: 0,
      respondTo: ["mention", "subscribed-thread"],
      ...options,
      delivery: { editEveryMs: 0, ...TEXTS, ...options.delivery },
    },
  });
  await world.write("g", "@bot listen", { isGroup: true, mentions: true });
  await world.shows("g", "You said: ada: @bot listen");
  world.script(script);
  return world;
}

const broken: ModelScript = () => [failWith(new Error("down"))];
const mute: ModelScript = () => [say("")];

describe("what people of a group say to each other", () => {
  it.each([
    ["the model fails", broken, "failed"],
    ["the model says nothing", mute, "done"],
  ])("is met with silence when %s, where the model may choose it", async (_what, script, outcome) => {
    const log = captureLog();
    const world = await listening(script);
    await world.write("g", "who brings the cake?", { isGroup: true });
    await expect
      .poll(() => log.filter(({ event }) => event === "turn.ended").map((line) => line.outcome))
      .toEqual(["done", outcome]);
    world.script(() => [say("Me too.")]);
    await world.write("g", "@bot and you?", { isGroup: true, mentions: true });
    await world.shows("g", "You said: ada: @bot listen", "Me too.");
  });

  it("is answered with a text of the bot's where it always answers", async () => {
    const world = await listening(broken, { delivery: { silence: false } });
    await world.write("g", "who brings the cake?", { isGroup: true });
    await world.shows("g", "You said: ada: @bot listen", "Sorry.");
    expect(world.requests.at(-1)?.said).toContain("cake");
  });

  it("uses up nobody's patience: who is over the limit is told so when they speak to the bot", async () => {
    const log = captureLog();
    const world = await listening(() => [say("[[silence]]")], { limits: { turnsPerPersonPerDay: 2 } });
    for (const text of ["one", "two", "three"]) await world.write("g", text, { isGroup: true });
    await world.write("g", "@bot, please", { isGroup: true, mentions: true });
    await world.write("g", "@bot?", { isGroup: true, mentions: true });
    await expect
      .poll(() => log.filter(({ event }) => event === "inbox.event").map((line) => line.outcome))
      .toEqual([
        "queued",
        "queued",
        "ignored: over the limit",
        "ignored: over the limit",
        "refused: over the limit",
        "ignored: over the limit",
      ]);
    await world.shows("g", "You said: ada: @bot listen", "Enough.");
  });

  it("is a question to the bot when its first line was one", async () => {
    const world = await listening(broken, { burstMs: 1000 });
    const sentAt = Date.now();
    await world.post([
      { id: "a", chat: "g", user: "ada", text: "@bot where is", sentAt, isGroup: true, mentions: true },
      { id: "b", chat: "g", user: "ada", text: "my order?", sentAt, isGroup: true },
    ]);
    await world.shows("g", "You said: ada: @bot listen", "Sorry.");
    expect(world.requests.at(-1)?.said).toContain("my order?");
  });
});

import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/core/store/database.ts";
import type { MessengerLimits } from "../../../src/core/chat/messenger.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createIntakeRig } from "./intake-rig.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TEXT = "Enough for now.";

function rigWith(limits: MessengerLimits | undefined, root?: Database) {
  const rig = createIntakeRig({
    root,
    definition: { limits, burstMs: 1000, delivery: { limitResponseText: TEXT } },
    commands: { ask: { description: "Ask", handler: ({ args }) => ({ prompt: args }) } },
  });
  /** Somebody writes, long after whatever was written before. */
  const ask = async (text: string, overrides: Parameters<typeof rig.receive>[1] = {}) => {
    await rig.clock.advance(2000);
    rig.receive(text, overrides);
    await rig.intake.run();
  };
  return { rig, ask };
}

describe("limits of a messenger", () => {
  it("are none unless they are set", async () => {
    const { rig, ask } = rigWith(undefined);
    for (let index = 0; index < 50; index += 1) await ask(`${index}`);
    expect(rig.waiting()).toHaveLength(50);
    expect(rig.sent).toEqual([]);
  });

  it("let a person ask so often in a day, say so once, and count from each question on", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 3 });
    for (const text of ["one", "two", "three", "four", "five"]) await ask(text);
    expect(rig.waiting()).toEqual(["one", "two", "three"]);
    expect(rig.sent).toEqual([TEXT]);
    expect(rig.outcomes().slice(3)).toEqual(["refused: over the limit", "ignored: over the limit"]);
    await rig.clock.advance(DAY_MS - 8000);
    await ask("six");
    expect(rig.waiting()).toEqual(["one", "two", "three", "six"]);
    await ask("seven");
    await ask("eight");
    await ask("nine");
    expect(rig.waiting().slice(4)).toEqual(["seven", "eight"]);
    expect(rig.sent).toEqual([TEXT, TEXT]);
  });

  it("are told below each slash command, under which the platform shows that the bot works", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 1 });
    for (const text of ["one", "two", "three"]) await ask(text, { message: { isSlashCommand: true } });
    expect(rig.waiting()).toEqual(["one"]);
    expect(rig.sent).toEqual([TEXT, TEXT]);
    const strict = createIntakeRig({ definition: { allow: ["8"], refusal: "Ask Bob." } });
    for (const text of ["one", "two"]) strict.receive(text, { message: { isSlashCommand: true } });
    await strict.intake.run();
    expect(strict.sent).toEqual(["Ask Bob.", "Ask Bob."]);
  });

  it("let a person ask so often in a minute", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerMinute: 2 });
    for (const text of ["one", "two", "three"]) await ask(text);
    expect(rig.waiting()).toEqual(["one", "two"]);
    await rig.clock.advance(MINUTE_MS);
    await ask("four");
    expect(rig.waiting()).toEqual(["one", "two", "four"]);
  });

  it("hold over restarts", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 1 });
    await ask("one");
    await ask("two");
    const restarted = rig.restart();
    await rig.clock.advance(2000);
    restarted.receive("three");
    await restarted.intake.run();
    expect(restarted.waiting()).toEqual(["one"]);
    expect(restarted.sent).toEqual([]);
  });

  it("are each person's own", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 1 });
    await ask("of Ada");
    await ask("of Bob", { author: { userId: "8" } });
    await ask("of Bob again", { author: { userId: "8" } });
    expect(rig.waiting()).toEqual(["of Ada", "of Bob"]);
  });

  it("count what a person asks in all conversations, each of which says so", async () => {
    const root = createNodeDatabase();
    const topics = [0, 1, 2].map(() => rigWith({ turnsPerPersonPerDay: 2 }, root));
    for (const [index, { ask }] of topics.entries()) {
      const thread = { id: `telegram:-5:${index}`, chatId: "-5", isDirectMessage: false };
      await ask(`in topic ${index}`, { thread, kind: "mention" });
    }
    expect(topics.map(({ rig }) => rig.waiting())).toEqual([["in topic 0"], ["in topic 1"], []]);
    expect(topics.map(({ rig }) => rig.sent)).toEqual([[], [], [TEXT]]);
  });

  it("do not take quick lines in several chats for one question", async () => {
    const root = createNodeDatabase();
    const chats = [0, 1].map(() => rigWith({ turnsPerPersonPerDay: 1 }, root));
    for (const [index, { rig }] of chats.entries()) {
      rig.receive("at once", { thread: { id: `telegram:${index}`, chatId: "1", isDirectMessage: true } });
      await rig.intake.run();
    }
    expect(chats.map(({ rig }) => rig.waiting())).toEqual([["at once"], []]);
  });

  it("count quick lines and albums once, but not lines without end", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 1 });
    await ask("one");
    for (let index = 0; index < 30; index += 1) {
      await rig.clock.advance(900);
      rig.receive(`line ${index}`);
      await rig.intake.run();
    }
    expect(rig.waiting()).toHaveLength(12);
    const album = rigWith({ turnsPerPersonPerDay: 1 });
    await album.ask("first", { message: { albumId: "a" } });
    await album.ask("second", { message: { albumId: "a" } });
    expect(album.rig.waiting()).toEqual(["first", "second"]);
  });

  it("hold for what a command hands to the model, and not for other commands", async () => {
    const { rig, ask } = rigWith({ turnsPerPersonPerDay: 1 });
    const command = (args: string) => ({ message: { command: { name: "ask", args } } });
    await ask("/ask one", command("one"));
    await ask("/ask two", command("two"));
    expect(rig.waiting()).toEqual(["one"]);
    expect(rig.sent).toEqual([TEXT]);
  });
});

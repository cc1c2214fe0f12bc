import { beforeEach, describe, expect, it } from "vitest";
import { tool } from "ai";
import { z } from "zod";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

const LIMIT =
  "I've taken as many steps as I can and still don't have an answer. Please ask for a smaller part, or put it another way.";
const EMPTY = "I don't have an answer to that. Could you put it another way?";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

function createLoop(options: WorldOptions = {}): World {
  return createWorld({
    script: () => [callTool("look")],
    getTools: () => ({ look: tool({ inputSchema: z.object({}), execute: () => "nothing" }) }),
    ...options,
  });
}

describe("a model that calls tools without end", () => {
  it.each<readonly [string, WorldOptions, number]>([
    ["that every bot has", {}, 10],
    ["of the bot", { settings: { maxSteps: 3 } }, 3],
    ["of the turn", { hooks: { beforeTurn: () => ({ maxSteps: 2 }) } }, 2],
  ])("has the person told at the limit %s", async (_name, options, steps) => {
    const world = createLoop(options);
    await world.write("c1", "Look");
    await world.shows("c1", LIMIT);
    expect(world.requests).toHaveLength(steps);
    expect(log.findLast(({ event }) => event === "turn.ended")).toMatchObject({
      level: "warn",
      outcome: "out-of-steps",
    });
  });

  it("has the person told below its words so far, in the bot's own words", async () => {
    const world = createLoop({
      settings: { maxSteps: 2 },
      script: () => [say("I look."), callTool("look")],
      messenger: { delivery: { editEveryMs: 0, stepLimitResponseText: "That was all." } },
    });
    await world.write("c1", "Look");
    await world.shows("c1", "I look.\n\nI look.\n\nThat was all.");
    expect(world.requests).toHaveLength(2);
  });

  it("is met with silence in a group where nobody has spoken to the bot", async () => {
    const world = createLoop({
      settings: { maxSteps: 2 },
      script: () => [say("Here I am.")],
      messenger: { respondTo: ["mention", "subscribed-thread"], delivery: { editEveryMs: 0 } },
    });
    await world.write("c1", "@bot listen", { isGroup: true, mentions: true });
    await world.shows("c1", "Here I am.");
    world.script(() => [callTool("look")]);
    await world.write("c1", "Who brings the cake?", { isGroup: true });
    await expect
      .poll(() => log.filter(({ event }) => event === "turn.ended").map(({ outcome }) => outcome))
      .toEqual(["done", "out-of-steps"]);
    expect(world.chats.visible("c1")).toEqual(["Here I am."]);
  });
});

it("knows an answer without words, and an end that the bot has wanted, from the limit of steps", async () => {
  const world = createLoop({ hooks: { beforeTurn: () => ({ stopWhen: () => true }) } });
  await world.write("c1", "Look");
  await world.shows("c1", EMPTY);
  world.script(() => []);
  await world.write("c1", "Look");
  await world.shows("c1", EMPTY, EMPTY);
  // A turn of an earlier file may have ended meanwhile.
  const ends = log.filter(({ event }) => event === "turn.ended").map(({ outcome }) => outcome);
  expect(ends.slice(-2)).toEqual(["done", "done"]);
});

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import { fakeTime } from "../support/fake-time.ts";
import type { FakeTime } from "../support/fake-time.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, failWith, holdAt, say } from "../support/scripted-model.ts";
import type { ModelRequest, ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

const SECOND = 1000;
const CUT = "Once upon\n\nCut short.";

let log: readonly LogLine[];
let time: FakeTime;
beforeEach(() => {
  log = captureLog();
  time = fakeTime();
});

const never = holdAt({ pass: () => new Promise(() => {}) });
/** An answer that stops in the middle. */
const stops: readonly ModelStep[] = [say("Once upon"), never];
const busy = failWith(Object.assign(new Error("busy"), { statusCode: 503, responseHeaders: {} }));

/** A bot whose calls of the model go one after the other like this. Further ones go like the last. */
function createStallingWorld(
  calls: readonly ((request: ModelRequest) => readonly ModelStep[])[],
  options: WorldOptions = {},
): World {
  let made = 0;
  return createWorld({
    script: (request) => {
      made += 1;
      return (calls[made - 1] ?? calls.at(-1))?.(request) ?? [];
    },
    messenger: { delivery: { editEveryMs: 0, interruptedResponseText: "Cut short." } },
    ...options,
  });
}

async function untilRetried(): Promise<void> {
  await expect.poll(() => log.map(({ event }) => event)).toContain("turn.model-retried");
}

describe("a model that stops in mid-answer", () => {
  it.each<readonly [string, readonly ModelStep[]]>([
    ["stops at the same place when it is asked again", stops],
    ["says nothing when it is asked again", [never]],
    ["is busy when it is asked again", [busy]],
  ])("and %s has the person told within a minute", async (_name, again) => {
    const world = createStallingWorld([() => stops, () => again]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(58 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["Once upon"]);
    await time.pass(5 * SECOND);
    await world.shows("c1", CUT);
  });

  it("keeps to the time of the turn's own settings", async () => {
    const world = createStallingWorld([() => stops, () => [never]], {
      hooks: { beforeTurn: () => ({ chatStreamStallTimeoutMs: 5 * SECOND }) },
    });
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(12 * SECOND);
    await world.shows("c1", CUT);
    expect(world.requests).toHaveLength(2);
  });

  it("has the person told within a minute although the bot restarts", async () => {
    const world = createStallingWorld([() => stops, () => [never]]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(31 * SECOND);
    await untilRetried();
    await expect.poll(() => world.requests.length).toBe(2);
    await time.pass(9 * SECOND);
    await restart(world);
    await expect.poll(() => world.requests.length).toBe(3);
    await time.pass(20 * SECOND);
    await world.shows("c1", CUT);
  });

  it("is asked once more by a bot that was away for long", async () => {
    const world = createStallingWorld([() => stops, () => [never], () => [say("Once upon a time.")]]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(31 * SECOND);
    await expect.poll(() => world.requests.length).toBe(2);
    await restart(world, 600 * SECOND);
    await world.shows("c1", "Once upon a time.");
  });
});

describe("a message while a call that has failed in mid-answer is made again", () => {
  const both = ({ said }: ModelRequest): readonly ModelStep[] => [say(`You said: ${said}`)];

  it("is answered at once, together with the question", async () => {
    const world = createStallingWorld([() => stops, () => [never], both]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(31 * SECOND);
    await expect.poll(() => world.requests.length).toBe(2);
    await world.write("c1", "Hello?");
    await world.shows("c1", "You said: Tell\nHello?");
    await time.pass(60 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["You said: Tell\nHello?"]);
  });

  it("is answered at once if the call has stopped at the same place", async () => {
    const world = createStallingWorld([() => stops, () => stops, both]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(35 * SECOND);
    await expect.poll(() => world.requests.length).toBe(2);
    await world.write("c1", "Hello?");
    await world.shows("c1", "You said: Tell\nHello?");
  });

  it("is answered as soon as the call is made again if it came before", async () => {
    const world = createStallingWorld([() => stops, both]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(10 * SECOND);
    await world.write("c1", "Hello?");
    await time.pass(18 * SECOND);
    expect(world.chats.visible("c1")).toEqual(["Once upon"]);
    await time.pass(4 * SECOND);
    await world.shows("c1", "You said: Tell\nHello?");
  });

  it("is answered by whoever wrote it in a group", async () => {
    const world = createStallingWorld([() => stops, () => [never], both], {
      messenger: { delivery: { editEveryMs: 0 } },
    });
    await world.write("c1", "Tell", { isGroup: true, mentions: true });
    await world.shows("c1", "Once upon");
    await time.pass(31 * SECOND);
    await expect.poll(() => world.requests.length).toBe(2);
    await world.write("c1", "Hello?", { isGroup: true, mentions: true, user: "bob" });
    await world.shows("c1", "You said: ada: Tell\nbob: Hello?");
  });

  it("waits if the call has said something new", async () => {
    const gate = createGate();
    const further = [say("Once upon a time"), holdAt(gate), say(" they lived.")];
    const world = createStallingWorld([() => stops, () => further, both]);
    await world.write("c1", "Tell");
    await world.shows("c1", "Once upon");
    await time.pass(32 * SECOND);
    await world.shows("c1", "Once upon a time");
    await world.write("c1", "Hello?");
    await time.pass(5 * SECOND);
    gate.open();
    await world.shows("c1", "Once upon a time they lived.", "You said: Hello?");
    expect(world.requests).toHaveLength(3);
  });

  it("does not let a tool with an effect run again", async () => {
    let runs = 0;
    const world = createStallingWorld(
      [() => [say("I order it."), callTool("order")], () => stops, () => [never], both],
      {
        getTools: () => ({
          order: tool({
            inputSchema: z.object({}),
            execute: () => {
              runs += 1;
              return "ordered";
            },
          }),
        }),
      },
    );
    await world.write("c1", "Order");
    await world.shows("c1", "I order it.\n\nOnce upon");
    await time.pass(31 * SECOND);
    await expect.poll(() => world.requests.length).toBe(3);
    await world.write("c1", "Hello?");
    await world.shows("c1", "I order it.", "You said: Hello?");
    expect(runs).toBe(1);
    const asked = JSON.stringify(world.requests.at(-1)?.prompt);
    expect(asked).toContain("ordered");
    expect(asked).toContain("Order");
  });
});

/** Kills the object, and starts it again after a time. */
async function restart(world: World, awayMs = 0): Promise<void> {
  await runInDurableObject(world.thread("c1"), (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
  await time.pass(awayMs);
  // The harness rests for a moment before it makes a call again that was cut twice.
  for (let run = 0; run < 3; run += 1) {
    void runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
    await time.pass(SECOND);
  }
}

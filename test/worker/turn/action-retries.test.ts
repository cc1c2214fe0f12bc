import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ActionOptions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const inputSchema = z.object({});
type Options = Partial<ActionOptions<typeof inputSchema, unknown>>;

interface Paying {
  readonly world: World;
  /** `ctx.attempt` of each run that has begun. */
  readonly attempts: number[];
}

/** The model calls `pay`, and says what that returned. */
function createPaying(execute: (attempts: readonly number[]) => unknown, options: Options): Paying {
  const attempts: number[] = [];
  const pay = action({
    description: "Pay.",
    inputSchema,
    retry: true,
    execute: (_input, { attempt }) => {
      attempts.push(attempt);
      return execute(attempts);
    },
    ...options,
  });
  const world = createWorld({
    getActions: () => ({ pay }),
    script: ({ prompt }) => {
      const last = prompt.at(-1);
      if (last?.role !== "tool") return [callTool("pay")];
      const [result] = last.content;
      return [say(JSON.stringify(result?.type === "tool-result" ? result.output : "none"))];
    },
  });
  return { attempts, world };
}

async function killWhen(isTime: () => boolean, world: World): Promise<void> {
  await expect.poll(isTime, { timeout: 8000, interval: 10 }).toBe(true);
  await runInDurableObject(world.thread("c1"), (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
  await runDurableObjectAlarm(world.thread("c1"));
}

const NOT_KNOWN = "outcome is not known";
const never = (): Promise<never> => new Promise(() => {});

/** What allows another run after one whose outcome is not known, and what comes of it. */
const ALLOWING: readonly (readonly [name: string, options: Options, runs: number, outcome: string])[] = [
  ["nothing", {}, 2, NOT_KNOWN],
  ["a key", { idempotencyKey: "order:7" }, 3, "paid"],
  ["verify, which finds no effect", { verify: () => ({ done: false }) }, 3, "paid"],
  ["verify, which finds the effect", { verify: () => ({ done: true, output: "found" }) }, 2, "found"],
  ["verify, which cannot tell", { verify: () => "unknown" }, 2, NOT_KNOWN],
  [
    "a key, but verify finds the effect",
    {
      idempotencyKey: "order:7",
      verify: () => ({ done: true, output: "found" }),
    },
    2,
    "found",
  ],
];

describe("an effect that is tried again, and whose object dies", () => {
  it.each(ALLOWING)(
    "in the second try, with %s to allow a third one",
    async (_name, options, runs, outcome) => {
      const { attempts, world } = createPaying((begun) => {
        if (begun.length === 1) throw new Error("busy");
        return begun.length === 2 ? never() : "paid";
      }, options);
      await world.write("c1", "Pay");
      await killWhen(() => attempts.length === 2, world);
      await expect.poll(() => world.chats.visible("c1").join(), { timeout: 8000 }).toContain(outcome);
      expect(attempts).toEqual(Array.from({ length: runs }, (_, index) => index + 1));
    },
  );

  it.each([
    ["repeats it under a key", { idempotencyKey: "order:7" }, 2, "paid"],
    ["never repeats it without a key", {}, 1, NOT_KNOWN],
  ] as const)("before the second try: %s", async (_name, options, runs, outcome) => {
    const { attempts, world } = createPaying(
      (begun) => {
        if (begun.length === 1) throw new Error("busy");
        return "paid";
      },
      // It dies while its bot decides.
      { ...options, retry: () => attempts.length > 1 || never() },
    );
    await world.write("c1", "Pay");
    await killWhen(() => attempts.length === 1, world);
    await expect.poll(() => world.chats.visible("c1").join(), { timeout: 8000 }).toContain(outcome);
    expect(attempts).toHaveLength(runs);
  });
});

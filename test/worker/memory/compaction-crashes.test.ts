import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { dropMemory, memoryWorld } from "../support/memory-world.ts";
import { say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
afterEach(dropMemory);

const MESSAGE = /INSERT (OR IGNORE )?INTO cf_agents_session_messages/;
const SUMMARY = /INSERT INTO cf_agents_session_compactions/;

/** The writes of a turn that takes a summary, from its question to its end. They count once a model has written one. */
const WRITES = {
  "the question": MESSAGE,
  "the summary": SUMMARY,
  "the answer": [MESSAGE, 2],
  "the end of the turn": /INSERT INTO turn_v1|UPDATE turn_v1/,
  "the next question": [MESSAGE, 3],
  "the second summary": [SUMMARY, 2],
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

const COUNT = 11;
const MAX_TOKENS = 1_600;
/** Names of messages, which the summaries of this model keep. */
const namesIn = (text: string): readonly string[] => text.match(/\bfact-\d+\b/g) ?? [];
const textsOf = ({ prompt }: ModelRequest): string => prompt.map(textOf).join("\n");

/** Time passes: an object that has died is woken by its alarm. */
async function until(world: World, isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1").slice(-2))}`);
    },
    { timeout: 15_000, interval: 20 },
  );
}

describe("an object that dies while its transcript is compacted", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, write]) =>
      (["before", "after"] as const).map((when) => ({ what, when, write })),
    ),
  )("keeps each message, once, and the next request whole: $when $what", async ({ when, write }) => {
    let summaries = 0;
    const killer = killerAt(write, when, () => summaries > 0);
    const world = memoryWorld((session) => session.compactAfter(700), {
      settings: { maxContextTokens: MAX_TOKENS },
      onStart: (agent) => killer.arm(agent),
      script: (request) => {
        const names = namesIn(textsOf(request));
        if (request.isStreamed) return [say(`ok ${names.at(-1) ?? "nothing"}.`)];
        summaries += 1;
        return [say(`They spoke of ${[...new Set(names)].join(" ")}.`)];
      },
    });
    for (let number = 1; number <= COUNT; number += 1) {
      const text = `fact-${number} ${"x".repeat(500)}`;
      const deliver = (): Promise<number> => world.write("c1", text, { id: `m${number}` }).catch(() => 500);
      await vi.waitFor(async () => expect(await deliver()).toBe(200), 8000);
      await until(world, () => world.chats.answers("c1").includes(`ok fact-${number}.`));
    }
    expect(killer.hasStruck()).toBe(true);
    expect(world.chats.answers("c1")).toEqual(
      Array.from({ length: COUNT }, (_, index) => `ok fact-${index + 1}.`),
    );

    const last = world.requests.findLast(({ isStreamed }) => isStreamed);
    const request = last === undefined ? "" : textsOf(last);
    expect(request.length / 4).toBeLessThan(MAX_TOKENS);
    // Each is there, and a summary replaces the messages that it tells.
    const all = Array.from({ length: COUNT }, (_, index) => `fact-${index + 1}`);
    const whole = all.filter((name) => request.includes(`${name} xx`));
    const [summarized = ""] = /They spoke of [^.]*\./.exec(request) ?? [];
    expect(request.split("They spoke of")).toHaveLength(2);
    expect([...new Set([...whole, ...namesIn(summarized)])].toSorted()).toEqual(all.toSorted());
    expect(whole.filter((name) => request.split(`${name} xx`).length !== 2)).toEqual([]);

    const found = await runInDurableObject(world.thread("c1"), async ({ session }) =>
      Promise.all(all.map((name) => session.search(name))),
    );
    for (const [index, hits] of found.entries()) {
      const said = hits.filter(({ from, text }) => from === "people" && text.startsWith(`${all[index]} x`));
      expect(said).toHaveLength(1);
    }
  });
});

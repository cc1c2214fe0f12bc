import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { ADDRESS } from "./engine-harness.ts";
import { chatOf, GROUP, OWN, PACING, POST, seasoned, TOPIC } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";
import { expectPaced } from "./paced.ts";

const granted = { kind: "granted" };

describe("borrows the bot's rate from the root, and calls nobody else (6)", () => {
  const counting = async (): Promise<GateRig & { readonly lends: readonly string[] }> => {
    const lends: string[] = [];
    const rig = await seasoned({
      pacing: { ...PACING, direct: { burst: 100, everyMs: 1 } },
      way: (root) => ({
        lend: (request) => {
          lends.push(request.purpose);
          return root.lend(request);
        },
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
        penalize: (penalty) => root.penalize(penalty),
      }),
    });
    return { ...rig, lends };
  };

  it("a few calls at a time, which expire", async () => {
    const { ask, clock, lends } = await counting();
    for (let call = 0; call < 8; call += 1) expect(await ask("final")).toMatchObject(granted);
    expect(lends.length).toBe(2);
    await clock.advance(60_000);
    await ask("final");
    const before = lends.length;
    await clock.advance(3_000);
    await ask("final");
    expect(lends.length).toBe(before + 1);
  });

  it("for all its chats together", async () => {
    const { ask, lends } = await counting();
    await ask("final", chatOf(1));
    await ask("final", chatOf(2));
    expect(lends.length).toBe(1);
  });

  it("and not for a call that the chat's own rate does not allow", async () => {
    const lends: string[] = [];
    const { ask } = await seasoned({
      way: (root) => ({
        lend: (request) => {
          lends.push(request.purpose);
          return root.lend(request);
        },
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
        penalize: (penalty) => root.penalize(penalty),
      }),
    });
    for (let call = 0; call < 3; call += 1) await ask("final");
    const before = lends.length;
    for (let call = 0; call < 9; call += 1) expect(await ask("final")).toMatchObject({ kind: "wait" });
    expect(lends.length).toBe(before);
  });

  it("rejects if the root cannot be reached, without taking a token", async () => {
    let isDown = true;
    const { ask } = await seasoned({
      way: (root) => ({
        lend: (request) => (isDown ? Promise.reject(new Error("down")) : root.lend(request)),
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
        penalize: (penalty) => root.penalize(penalty),
      }),
    });
    for (let call = 0; call < 9; call += 1) await expect(ask("post", TOPIC, POST)).rejects.toThrow("down");
    isDown = false;
    expect(await ask("post", TOPIC, POST)).toMatchObject({ kind: "granted", right: { ticket: 1 } });
    for (let call = 0; call < 2; call += 1) expect(await ask("final")).toMatchObject(granted);
  });

  it("and passes on that the bot is at its limit, without losing the chat's place or token", async () => {
    const slow = { ...PACING, global: { burst: 2, everyMs: 10_000 } };
    const { ask, clock } = await seasoned({ pacing: slow });
    for (let chat = 10; chat < 12; chat += 1) expect(await ask("final", chatOf(chat))).toMatchObject(granted);
    const first = await ask("final", chatOf(20));
    const second = await ask("final", chatOf(21));
    expect([first, second]).toEqual([
      { kind: "wait", retryAt: clock.now() + 10_000, reason: "pacing" },
      { kind: "wait", retryAt: clock.now() + 20_000, reason: "pacing" },
    ]);
    await clock.advance(10_000);
    expect(await ask("final", chatOf(21))).toMatchObject({ kind: "wait" });
    expect(await ask("final", chatOf(20))).toMatchObject(granted);
  });
});

describe("after a start (7)", () => {
  /** How many calls in a row are granted. */
  const burst = async ({ ask }: GateRig, address: Address = ADDRESS): Promise<number> => {
    for (let calls = 0; ; calls += 1) {
      if ((await ask("post", address)).kind === "wait") return calls;
    }
  };

  it("holds two tokens, for a first text and a final one", async () => {
    const rig = await seasoned();
    await rig.ask("post");
    const again = rig.restart();
    expect(await again.ask("post")).toMatchObject(granted);
    expect(await again.ask("edit")).toMatchObject({ kind: "wait" });
    expect(await again.ask("final")).toMatchObject(granted);
    expect(await again.ask("final")).toMatchObject({ kind: "wait", retryAt: rig.clock.now() + 1_000 });
  });

  it("holds one after a penalty, and none before its end", async () => {
    const rig = await seasoned();
    await rig.gate.penalize(ADDRESS, 5_000);
    expect(await burst(rig.restart())).toBe(0);
    await rig.clock.advance(5_000);
    expect(await burst(rig.restart())).toBe(1);
  });

  it("is full if nobody has ever sent anything", async () => {
    const rig = await seasoned();
    expect(await burst(rig.restart())).toBe(3);
    expect(await burst(rig.restart(), { ...GROUP, chatId: "-8" })).toBe(4);
  });

  it.each([
    [29_000, 2],
    [3_000, 2],
    [32_900, 2],
    [33_000, 3],
    [600_000, 3],
  ])("after %d ms without a call of another object holds %d", async (idleMs, expected) => {
    const rig = await seasoned();
    await rig.ask("post");
    await rig.clock.advance(idleMs);
    expect(await burst(rig.restart())).toBe(expected);
  });

  it.each([
    [2_999, 2],
    [3_000, 3],
  ])("after %d ms without a call of its own object holds %d", async (idleMs, expected) => {
    const used: number[] = [];
    const rig = await seasoned({ local: { ...NOBODY, lastUsedAt: () => used[0] } });
    expect(await rig.ask("post", ADDRESS, { speaker: OWN })).toMatchObject(granted);
    used.push(rig.clock.now());
    await rig.clock.advance(idleMs);
    const again = rig.restart();
    let calls = 0;
    while ((await again.ask("post", ADDRESS, { speaker: OWN })).kind === "granted") calls += 1;
    expect(calls).toBe(expected);
  });

  it("is full only if the rate allows it, whatever was sent before and whenever the gate died", async () => {
    const lives = fc.array(
      fc.record({
        waits: fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 12 }),
        idleMs: fc.constantFrom(0, 2_000, 20_000, 31_000, 34_000),
      }),
      { minLength: 2, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(lives, async (plan) => {
        let rig = await seasoned();
        let calls: number[] = [];
        for (const { waits, idleMs } of plan) {
          const since = rig.clock.now();
          for (const waitMs of waits) {
            await rig.clock.advance(waitMs);
            if ((await rig.ask("final")).kind === "granted") calls.push(rig.clock.now());
          }
          await rig.clock.advance(idleMs);
          rig = rig.restart();
          const now = rig.clock.now();
          const count = await burst(rig);
          const made = [...calls, ...Array.from({ length: count }, () => now)];
          if (count > 2) expectPaced(made, PACING.direct);
          // Two at each start are given on trust: begin to count again.
          calls = count > 2 ? made.filter((at) => at >= since) : [];
          if (count <= 2) await rig.clock.advance(60_000);
        }
      }),
      { numRuns: 60 },
    );
  });
});

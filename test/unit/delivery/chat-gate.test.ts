/* The laws of a gate's head. Those of the right to post are in `chat-gate-posts.test.ts`, of the root and a start in `chat-gate-start.test.ts`. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallPurpose } from "../../../src/core/chat/gate.ts";
import { ADDRESS } from "./engine-harness.ts";
import { chatOf, GROUP, inTopic, OWN, PACING, seasoned, TOPIC } from "./gate-rig.ts";
import { expectPaced } from "./paced.ts";

const granted = { kind: "granted" };

describe("meters all calls to a chat together (1)", () => {
  it("grants the burst, and keeps the last slot from cosmetic calls", async () => {
    const { ask, clock } = await seasoned();
    expect(await ask("typing")).toMatchObject(granted);
    expect(await ask("edit")).toMatchObject(granted);
    expect(await ask("edit")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000, reason: "pacing" });
    expect(await ask("typing")).toMatchObject({ kind: "wait" });
    expect(await ask("final")).toMatchObject(granted);
    expect(await ask("post")).toMatchObject({ kind: "wait" });
  });

  it("keeps calls for the first and the final text before it shows typing", async () => {
    const rig = await seasoned();
    expect(await rig.ask("edit")).toMatchObject(granted);
    expect(await rig.ask("typing")).toMatchObject({ kind: "wait", retryAt: rig.clock.now() + 1_000 });
    const fresh = rig.restart();
    expect(await fresh.ask("typing", TOPIC)).toMatchObject({ kind: "wait" });
    expect(await fresh.ask("post", TOPIC)).toMatchObject(granted);
    expect(await fresh.ask("post", inTopic(3))).toMatchObject(granted);
  });

  it("keeps a call for the final text, whatever cosmetic calls were made before", async () => {
    const cosmetic = fc.array(
      fc.record({
        waitMs: fc.integer({ min: 0, max: 1_200 }),
        purpose: fc.constantFrom<CallPurpose>("edit", "typing"),
        topic: fc.integer({ min: 1, max: 3 }),
      }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(cosmetic, async (plan) => {
        const { ask, clock } = await seasoned();
        for (const { waitMs, purpose, topic } of plan) {
          await clock.advance(waitMs);
          await ask(purpose, inTopic(topic));
        }
        expect(await ask("final")).toMatchObject(granted);
      }),
      { numRuns: 100 },
    );
  });

  it("grants a call at the time that it named", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    expect(await ask("post")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
    await clock.advance(999);
    expect(await ask("post")).toMatchObject({ kind: "wait" });
    await clock.advance(1);
    expect(await ask("post")).toMatchObject(granted);
  });

  it("says with every grant when the rate allows the next calls, and grants them then", async () => {
    const { ask, clock } = await seasoned();
    const now = clock.now();
    expect(await ask("post")).toMatchObject({ next: { post: now, edit: now, typing: now + 1_000 } });
    expect(await ask("post")).toMatchObject({ next: { post: now, edit: now + 1_000, typing: now + 2_000 } });
    expect(await ask("post")).toMatchObject({
      next: { post: now + 1_000, edit: now + 2_000, typing: now + 3_000 },
    });
    await clock.advance(1_999);
    expect(await ask("edit")).toMatchObject({ kind: "wait" });
    await clock.advance(1);
    expect(await ask("edit")).toMatchObject(granted);
  });

  it("counts the topics and conversations of a chat together, and other chats separately", async () => {
    const { ask } = await seasoned();
    await ask("post");
    await ask("post", TOPIC);
    await ask("post", TOPIC, { speaker: OWN });
    expect(await ask("post", inTopic(3), { speaker: "another object" })).toMatchObject({ kind: "wait" });
    expect(await ask("post", chatOf(8))).toMatchObject(granted);
    expect(await ask("post", { ...ADDRESS, messengerId: "second-bot" })).toMatchObject(granted);
  });

  it("uses the group's rate in a group", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 4; call += 1) expect(await ask("post", GROUP)).toMatchObject(granted);
    expect(await ask("post", GROUP)).toMatchObject({ retryAt: clock.now() + 3_000 });
  });

  it("never grants more than the rate allows, also at the same time and with a slow root", async () => {
    const asks = fc.array(
      fc.record({
        waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_500 })),
        purpose: fc.constantFrom<CallPurpose>("final", "post", "edit", "typing"),
        topic: fc.integer({ min: 0, max: 3 }),
        rootMs: fc.constantFrom(0, 0, 20, 700),
      }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(asks, async (plan) => {
        let rootMs = 0;
        const { ask, clock } = await seasoned({
          way: (root) => ({
            lend: async (request) => {
              const delayMs = rootMs;
              await new Promise<void>((resolve) => void clock.setTimeout(resolve, delayMs));
              return root.lend(request);
            },
            tellSent: (sent) => root.tellSent(sent),
            seenIds: (question) => root.seenIds(question),
            penalize: (penalty) => root.penalize(penalty),
          }),
        });
        const times: number[] = [];
        const asked: Promise<unknown>[] = [];
        for (const step of plan) {
          await clock.advance(step.waitMs);
          rootMs = step.rootMs;
          asked.push(
            ask(step.purpose, inTopic(step.topic)).then((grant) => {
              if (grant.kind === "granted") times.push(clock.now());
              else expect(grant.retryAt).toBeGreaterThan(clock.now());
            }),
          );
        }
        await clock.advance(5_000);
        await Promise.all(asked);
        expectPaced(times, PACING.direct);
      }),
      { numRuns: 60 },
    );
  });
});

describe("saves calls of an idle chat for a search (1)", () => {
  it("eight calls, in addition to the burst", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 8; call += 1) expect(await ask("search")).toMatchObject(granted);
    for (let call = 0; call < 3; call += 1) expect(await ask("final")).toMatchObject(granted);
    expect(await ask("search")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
  });

  it("from unused calls: all calls together never exceed the rate", async () => {
    const asks = fc.array(
      fc.record({
        waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
        purpose: fc.constantFrom<CallPurpose>("search", "search", "final", "post", "edit", "typing"),
      }),
      { maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(asks, async (plan) => {
        const { ask, clock } = await seasoned();
        const all: number[] = [];
        const others: number[] = [];
        for (const { purpose, waitMs } of plan) {
          await clock.advance(waitMs);
          if ((await ask(purpose)).kind === "wait") continue;
          all.push(clock.now());
          if (purpose !== "search") others.push(clock.now());
        }
        expectPaced(others, PACING.direct);
        expectPaced(all, { ...PACING.direct, burst: PACING.direct.burst + 8 });
      }),
      { numRuns: 60 },
    );
  });

  it("and none in a penalty, or right after it", async () => {
    const { ask, clock, gate } = await seasoned();
    await gate.penalize(ADDRESS, 30_000);
    expect(await ask("search")).toMatchObject({ kind: "wait", reason: "penalty" });
    await clock.advance(30_000);
    expect(await ask("search")).toMatchObject(granted);
    expect(await ask("search")).toMatchObject({ kind: "wait", reason: "pacing" });
  });
});

describe("grants nothing during a penalty (2)", () => {
  it("to no speaker of the chat, also after a restart of the gate", async () => {
    const { ask, gate, clock, restart } = await seasoned();
    await gate.penalize(ADDRESS, 30_000);
    const until = clock.now() + 30_000;
    expect(await ask("final", TOPIC)).toMatchObject({ kind: "wait", retryAt: until, reason: "penalty" });
    const again = restart();
    expect(await again.ask("final")).toMatchObject({ kind: "wait", retryAt: until, reason: "penalty" });
    expect(await again.ask("post", chatOf(8))).toMatchObject(granted);
    await clock.advance(29_999);
    expect(await again.ask("final")).toMatchObject({ reason: "penalty" });
    await clock.advance(1);
    expect(await again.ask("final")).toMatchObject(granted);
  });

  it("and never shortens it", async () => {
    const { ask, gate, clock } = await seasoned();
    await gate.penalize(ADDRESS, 30_000);
    await gate.penalize(ADDRESS, 5_000);
    expect(await ask("final")).toMatchObject({ retryAt: clock.now() + 30_000 });
  });

  it("also if the request came before it and waited for the bot's rate", async () => {
    let arrive = (): void => {};
    const { ask, gate, clock } = await seasoned({
      way: (root) => ({
        lend: async (request) => {
          await new Promise<void>((resolve) => (arrive = resolve));
          return root.lend(request);
        },
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
        penalize: (penalty) => root.penalize(penalty),
      }),
    });
    const asked = ask("final");
    await clock.settle();
    await gate.penalize(ADDRESS, 30_000);
    arrive();
    expect(await asked).toMatchObject({ kind: "wait", reason: "penalty" });
  });

  it("spaces calls wider after each one, and forgives one after the other", async () => {
    const { ask, gate, clock } = await seasoned();
    const spacing = async (): Promise<number> => {
      for (;;) {
        const grant = await ask("post");
        if (grant.kind === "wait") return grant.retryAt - clock.now();
      }
    };
    await gate.penalize(ADDRESS, 1_000);
    await clock.advance(1_000);
    expect(await spacing()).toBe(1_500);
    await gate.penalize(ADDRESS, 1_000);
    await clock.advance(1_000);
    expect(await spacing()).toBe(2_250);
    await clock.advance(2 * 60_000 + 1);
    expect(await spacing()).toBe(1_500);
    await clock.advance(2 * 60_000);
    expect(await spacing()).toBe(1_000);
  });

  it("spaces no wider than about eight times, however many penalties there are", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let count = 0; count < 20; count += 1) {
      await gate.penalize(ADDRESS, 1_000);
      await clock.advance(1_000);
    }
    await ask("post");
    expect(await ask("post")).toMatchObject({ retryAt: clock.now() + Math.ceil(1_000 * 1.5 ** 5) });
  });

  it("counts calls that met the same penalty as one strike", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let call = 0; call < 5; call += 1) await gate.penalize(ADDRESS, 1_000);
    await clock.advance(1_000);
    await ask("post");
    expect(await ask("post")).toMatchObject({ retryAt: clock.now() + 1_500 });
  });

  it("keeps a wider spacing over a restart that comes after the penalty", async () => {
    const { gate, clock, restart } = await seasoned();
    await gate.penalize(ADDRESS, 1_000);
    await clock.advance(1_000);
    const again = restart();
    expect(await again.ask("post")).toMatchObject(granted);
    expect(await again.ask("post")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_500 });
  });
});

describe("keeps the place of a waiting caller (3)", () => {
  it("and serves them in the order in which they asked", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    const first = await ask("post");
    const second = await ask("post", TOPIC);
    expect([first, second]).toMatchObject([
      { retryAt: clock.now() + 1_000 },
      { retryAt: clock.now() + 2_000 },
    ]);
    await clock.advance(1_000);
    expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
    expect(await ask("post")).toMatchObject(granted);
    await clock.advance(1_000);
    expect(await ask("post", TOPIC)).toMatchObject(granted);
  });

  it("also over a penalty", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    await ask("post");
    await ask("post", TOPIC);
    await gate.penalize(ADDRESS, 60_000);
    await clock.advance(60_000);
    expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait", reason: "pacing" });
    expect(await ask("post")).toMatchObject(granted);
  });

  it("lets a final text overtake a waiting edit, and removes the place of a caller that does not come back", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("edit");
    expect(await ask("final", TOPIC)).toMatchObject(granted);
    expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
    await clock.advance(10_000);
    expect(await ask("edit")).toMatchObject(granted);
  });

  it("but keeps none for typing", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("final");
    expect(await ask("typing", TOPIC)).toMatchObject({ kind: "wait" });
    expect(await ask("edit")).toMatchObject({ retryAt: clock.now() + 2_000 });
  });

  it("serves every waiting caller in the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<CallPurpose>("final", "post", "edit"), { minLength: 1, maxLength: 6 }),
        async (purposes) => {
          const { ask, clock } = await seasoned();
          const waiting = new Map(purposes.map((purpose, topic) => [topic, { purpose, dueAt: clock.now() }]));
          for (let round = 0; round < 200 && waiting.size > 0; round += 1) {
            for (const [topic, { purpose, dueAt }] of waiting) {
              if (dueAt > clock.now()) continue;
              const grant = await ask(purpose, inTopic(topic));
              if (grant.kind === "granted") waiting.delete(topic);
              else waiting.set(topic, { purpose, dueAt: grant.retryAt });
            }
            await clock.advance(100);
          }
          expect([...waiting.keys()]).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("does not hold up other chats while one waits for its own rate", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    expect(await ask("post")).toMatchObject({ retryAt: clock.now() + 1_000 });
    await gate.penalize(chatOf(100), 60_000);
    await ask("post", chatOf(100));
    expect(await ask("post", chatOf(300))).toMatchObject(granted);
  });
});

it("never delays the answer to a press of a button, whatever the rate and during a penalty (5)", async () => {
  const { ask, gate } = await seasoned({
    way: () => ({
      lend: () => Promise.reject(new Error("down")),
      tellSent: () => Promise.reject(new Error("down")),
      seenIds: () => Promise.reject(new Error("down")),
      penalize: () => Promise.reject(new Error("down")),
    }),
  });
  await gate.penalize(ADDRESS, 60_000);
  for (let call = 0; call < 20; call += 1) expect(await ask("answer")).toMatchObject(granted);
});

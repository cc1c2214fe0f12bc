import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallPurpose, CallRequest, ChatNews, Grant } from "../../../src/core/gate.ts";
import type { Address } from "../../../src/core/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { ADDRESS } from "./engine-harness.ts";
import { gateRig, inTopic, OTHER, OWN, PACING, seasoned, TOPIC } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";
import { expectPaced } from "./paced.ts";

const granted = { kind: "granted" };
const GROUP: Address = { ...ADDRESS, isDirectMessage: false };

const chatOf = (index: number): Address => ({
  ...ADDRESS,
  chatId: `${index}`,
  threadId: `telegram:${index}`,
});

/** What a speaker tells that has nothing to tell. */
const QUIET: ChatNews = { box: "7", sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false };
const POST: Partial<CallRequest> = { isPost: true, news: QUIET };

describe("meters all calls to a chat together (1)", () => {
  it("grants the burst, and keeps the last slot from cosmetic calls", async () => {
    const { ask, clock } = await seasoned();
    expect(await ask("typing")).toEqual(granted);
    expect(await ask("edit")).toEqual(granted);
    expect(await ask("edit")).toEqual({ kind: "wait", retryAt: clock.now() + 1_000, reason: "pacing" });
    expect(await ask("typing")).toMatchObject({ kind: "wait" });
    expect(await ask("final")).toEqual(granted);
    expect(await ask("post")).toMatchObject({ kind: "wait" });
  });

  it("spares the first text and the final one before it shows typing", async () => {
    const rig = await seasoned();
    expect(await rig.ask("edit")).toEqual(granted);
    expect(await rig.ask("typing")).toMatchObject({ kind: "wait", retryAt: rig.clock.now() + 1_000 });
    const fresh = rig.restart();
    expect(await fresh.ask("typing", TOPIC)).toMatchObject({ kind: "wait" });
    expect(await fresh.ask("post", TOPIC)).toEqual(granted);
    expect(await fresh.ask("post", inTopic(3))).toEqual(granted);
  });

  it("has a slot for the final text whatever cosmetic calls were made before", async () => {
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
        expect(await ask("final")).toEqual(granted);
      }),
      { numRuns: 100 },
    );
  });

  it("grants at the time that it named", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    expect(await ask("post")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
    await clock.advance(999);
    expect(await ask("post")).toMatchObject({ kind: "wait" });
    await clock.advance(1);
    expect(await ask("post")).toEqual(granted);
  });

  it("counts the topics and the conversations of a chat together, and other chats apart", async () => {
    const { ask } = await seasoned();
    await ask("post");
    await ask("post", TOPIC);
    await ask("post", TOPIC, { speaker: OWN });
    expect(await ask("post", inTopic(3), { speaker: "another object" })).toMatchObject({ kind: "wait" });
    expect(await ask("post", chatOf(8))).toEqual(granted);
    expect(await ask("post", { ...ADDRESS, messengerId: "second-bot" })).toEqual(granted);
  });

  it("uses the group's rate in a group", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 4; call += 1) expect(await ask("post", GROUP)).toEqual(granted);
    expect(await ask("post", GROUP)).toMatchObject({ retryAt: clock.now() + 3_000 });
  });

  it("never grants more than the rate allows, whoever asks for what, also at once and of a slow root", async () => {
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

describe("grants nothing during a penalty (2)", () => {
  it("to nobody of the chat, also after a restart of the gate", async () => {
    const { ask, gate, clock, restart } = await seasoned();
    await gate.penalize(ADDRESS, 30_000);
    const until = clock.now() + 30_000;
    expect(await ask("final", TOPIC)).toEqual({ kind: "wait", retryAt: until, reason: "penalty" });
    const again = restart();
    expect(await again.ask("final")).toEqual({ kind: "wait", retryAt: until, reason: "penalty" });
    expect(await again.ask("post", chatOf(8))).toEqual(granted);
    await clock.advance(29_999);
    expect(await again.ask("final")).toMatchObject({ reason: "penalty" });
    await clock.advance(1);
    expect(await again.ask("final")).toEqual(granted);
  });

  it("and never shortens it", async () => {
    const { ask, gate, clock } = await seasoned();
    await gate.penalize(ADDRESS, 30_000);
    await gate.penalize(ADDRESS, 5_000);
    expect(await ask("final")).toMatchObject({ retryAt: clock.now() + 30_000 });
  });

  it("also to one that asked before it, and whose share of the bot's rate was on its way", async () => {
    let arrive = (): void => {};
    const { ask, gate, clock } = await seasoned({
      way: (root) => ({
        lend: async (request) => {
          await new Promise<void>((resolve) => (arrive = resolve));
          return root.lend(request);
        },
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
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

  it("takes calls that crossed the same penalty for one strike", async () => {
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
    expect(await again.ask("post")).toEqual(granted);
    expect(await again.ask("post")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_500 });
  });
});

describe("keeps the place of one that was told to wait (3)", () => {
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
    expect(await ask("post")).toEqual(granted);
    await clock.advance(1_000);
    expect(await ask("post", TOPIC)).toEqual(granted);
  });

  it("also over a penalty", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    await ask("post");
    await ask("post", TOPIC);
    await gate.penalize(ADDRESS, 60_000);
    await clock.advance(60_000);
    expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait", reason: "pacing" });
    expect(await ask("post")).toEqual(granted);
  });

  it("lets a final text pass a waiting edit, and gives up the place of one who does not come back", async () => {
    const { ask, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("edit");
    expect(await ask("final", TOPIC)).toEqual(granted);
    expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
    await clock.advance(10_000);
    expect(await ask("edit")).toEqual(granted);
  });

  it("but none to typing", async () => {
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

  it("does not hold up other chats for one that waits for its own rate", async () => {
    const { ask, gate, clock } = await seasoned();
    for (let call = 0; call < 3; call += 1) await ask("post");
    expect(await ask("post")).toMatchObject({ retryAt: clock.now() + 1_000 });
    await gate.penalize(chatOf(100), 60_000);
    await ask("post", chatOf(100));
    expect(await ask("post", chatOf(300))).toEqual(granted);
  });
});

describe("gives the right to post to one at a time (4)", () => {
  const holding = async (options: Parameters<typeof seasoned>[0] = {}): Promise<GateRig> => {
    const rig = await seasoned(options);
    expect(await rig.ask("post", TOPIC, POST)).toMatchObject({ kind: "granted", right: { ticket: 1 } });
    return rig;
  };

  it("while edits, final texts and typing of all others go on", async () => {
    const { ask, clock } = await holding({
      pacing: { ...PACING, direct: { burst: 100, everyMs: 1 } },
    });
    for (const purpose of ["edit", "final", "typing", "post"] as const) {
      expect(await ask(purpose, inTopic(3), { news: QUIET })).toEqual(granted);
    }
    expect(await ask("post", inTopic(3), POST)).toEqual({
      kind: "wait",
      retryAt: clock.now() + 250,
      reason: "post",
    });
    expect(await ask("final", inTopic(3), POST)).toMatchObject({ kind: "wait", reason: "post" });
  });

  it("and neither takes a token nor keeps a place for one that waits for it", async () => {
    const { ask } = await holding();
    for (let asked = 0; asked < 9; asked += 1) await ask("post", inTopic(3), POST);
    expect(await ask("final", inTopic(4))).toEqual(granted);
    expect(await ask("final", inTopic(5))).toEqual(granted);
  });

  it("until its holder tells what became of the post, with whatever it says next", async () => {
    const { ask } = await holding();
    expect(
      await ask("edit", TOPIC, { news: { ...QUIET, sentIds: [101], newestId: 101, ticket: 1 } }),
    ).toMatchObject(granted);
    expect(await ask("post", inTopic(3), POST)).toEqual({
      kind: "granted",
      newestId: 101,
      right: { ticket: 2, isShared: true },
    });
  });

  it("until it reports", async () => {
    const { ask, gate } = await holding();
    const news = { ...QUIET, ticket: 1 };
    await gate.report({ address: TOPIC, speaker: OTHER, news: { ...news, isInDoubt: true } });
    expect(await ask("post", inTopic(3), POST)).toMatchObject({ kind: "wait", reason: "post" });
    await gate.report({ address: TOPIC, speaker: OTHER, news });
    expect(await ask("post", inTopic(3), POST)).toMatchObject(granted);
  });

  it("of each chat", async () => {
    const { ask } = await holding();
    expect(await ask("post", chatOf(8), { ...POST, news: { ...QUIET, box: "8" } })).toMatchObject(granted);
  });

  it("where messages are numbered; elsewhere nobody waits", async () => {
    const { ask } = await seasoned();
    expect(await ask("post", TOPIC, { isPost: true })).toEqual(granted);
    expect(await ask("post", inTopic(3), { isPost: true })).toEqual(granted);
  });

  it("and says whether others wait for the outcome: in a forum, and where another one has just spoken", async () => {
    const { ask, clock } = await seasoned();
    const right = async (address: Address, speaker: string): Promise<unknown> => {
      const grant = await ask("post", address, { ...POST, speaker });
      return grant.kind === "granted" ? grant.right?.isShared : grant;
    };
    expect(await right(ADDRESS, OWN), "alone").toBe(false);
    await ask("edit", ADDRESS, { speaker: OWN, news: { ...QUIET, ticket: 1 } });
    expect(await right(ADDRESS, OTHER), "two of the chat").toBe(true);
    await clock.advance(61_000);
    expect(await right(ADDRESS, OWN), "alone again").toBe(false);
    await clock.advance(61_000);
    expect(await right(TOPIC, OTHER), "a forum").toBe(true);
  });

  it("and to nobody else while a post of the gate's own object is in doubt", async () => {
    const asked: string[] = [];
    let isInDoubt = true;
    const { ask, clock } = await seasoned({
      local: {
        ...NOBODY,
        isInDoubt: ({ chatId }, exceptThreadId) => {
          asked.push(`${chatId} ${exceptThreadId}`);
          return isInDoubt;
        },
      },
    });
    expect(await ask("post", TOPIC, POST)).toEqual({
      kind: "wait",
      retryAt: clock.now() + 500,
      reason: "post",
    });
    expect(await ask("edit", TOPIC, { news: QUIET })).toEqual(granted);
    isInDoubt = false;
    expect(await ask("post", ADDRESS, { ...POST, speaker: OWN })).toMatchObject(granted);
    // The thread of the object that asks knows its own doubt.
    expect(asked).toEqual(["7 ", "7 telegram:7"]);
  });
});

it("never delays the answer to a press of a button, whatever the rate and during a penalty (5)", async () => {
  const { ask, gate } = await seasoned({
    way: () => ({
      lend: () => Promise.reject(new Error("down")),
      tellSent: () => Promise.reject(new Error("down")),
      seenIds: () => Promise.reject(new Error("down")),
    }),
  });
  await gate.penalize(ADDRESS, 60_000);
  for (let call = 0; call < 20; call += 1) expect(await ask("answer")).toEqual(granted);
});

describe("asks the root for a share of the bot's rate, and nobody else (6)", () => {
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
      }),
    });
    return { ...rig, lends };
  };

  it("a few calls at a time, which lapse", async () => {
    const { ask, clock, lends } = await counting();
    for (let call = 0; call < 8; call += 1) expect(await ask("final")).toEqual(granted);
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
      }),
    });
    for (let call = 0; call < 3; call += 1) await ask("final");
    const before = lends.length;
    for (let call = 0; call < 9; call += 1) expect(await ask("final")).toMatchObject({ kind: "wait" });
    expect(lends.length).toBe(before);
  });

  it("rejects when the root cannot be reached, and takes no token for that", async () => {
    let isDown = true;
    const { ask } = await seasoned({
      way: (root) => ({
        lend: (request) => (isDown ? Promise.reject(new Error("down")) : root.lend(request)),
        tellSent: (sent) => root.tellSent(sent),
        seenIds: (question) => root.seenIds(question),
      }),
    });
    for (let call = 0; call < 9; call += 1) await expect(ask("post", TOPIC, POST)).rejects.toThrow("down");
    isDown = false;
    expect(await ask("post", TOPIC, POST)).toMatchObject({ kind: "granted", right: { ticket: 1 } });
    for (let call = 0; call < 2; call += 1) expect(await ask("final")).toEqual(granted);
  });

  it("and passes on that the bot is at its limit: the chat keeps its place there, and its token", async () => {
    const slow = { ...PACING, global: { burst: 2, everyMs: 10_000 } };
    const { ask, clock } = await seasoned({ pacing: slow });
    for (let chat = 10; chat < 12; chat += 1) expect(await ask("final", chatOf(chat))).toEqual(granted);
    const first = await ask("final", chatOf(20));
    const second = await ask("final", chatOf(21));
    expect([first, second]).toEqual([
      { kind: "wait", retryAt: clock.now() + 10_000, reason: "pacing" },
      { kind: "wait", retryAt: clock.now() + 20_000, reason: "pacing" },
    ]);
    await clock.advance(10_000);
    expect(await ask("final", chatOf(21))).toMatchObject({ kind: "wait" });
    expect(await ask("final", chatOf(20))).toEqual(granted);
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
    expect(await again.ask("post")).toEqual(granted);
    expect(await again.ask("edit")).toMatchObject({ kind: "wait" });
    expect(await again.ask("final")).toEqual(granted);
    expect(await again.ask("final")).toMatchObject({ kind: "wait", retryAt: rig.clock.now() + 1_000 });
  });

  it("holds one after a penalty, and none before its end", async () => {
    const rig = await seasoned();
    await rig.gate.penalize(ADDRESS, 5_000);
    expect(await burst(rig.restart())).toBe(0);
    await rig.clock.advance(5_000);
    expect(await burst(rig.restart())).toBe(1);
  });

  it("is full where nobody has ever spoken", async () => {
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
    let lastUsedAt: number | undefined;
    const rig = await seasoned({ local: { ...NOBODY, lastUsedAt: () => lastUsedAt } });
    expect(await rig.ask("post", ADDRESS, { speaker: OWN })).toEqual(granted);
    lastUsedAt = rig.clock.now();
    await rig.clock.advance(idleMs);
    const again = rig.restart();
    let calls = 0;
    while ((await again.ask("post", ADDRESS, { speaker: OWN })).kind === "granted") calls += 1;
    expect(calls).toBe(expected);
  });

  it("is full only when the rate allows it, whoever has spoken before and whenever the gate died", async () => {
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

describe("knows the ids of messages", () => {
  const question = (more: Partial<ChatNews> = {}, afterId = 100) => ({
    address: TOPIC,
    speaker: OTHER,
    news: { ...QUIET, newestId: afterId, ...more },
    afterId,
  });

  it("leaves out what anybody of the chat has sent, and what came in, and names some behind the newest", async () => {
    const { ask, gate, root } = await seasoned({
      local: { ...NOBODY, sentIds: (_chat, afterId) => [103].filter((id) => id > afterId) },
    });
    root.noteIncoming("telegram", "7", false, [101, 107]);
    await ask("edit", inTopic(3), { news: { ...QUIET, sentIds: [105], newestId: 105 } });
    const { ids, newestId, claim } = await gate.unclaimed(question());
    expect(newestId).toBe(107);
    expect(claim).toBe("certain");
    expect(ids.filter((id) => id <= 107)).toEqual([102, 104, 106]);
    expect(ids.slice(3)).toEqual(Array.from({ length: ids.length - 3 }, (_, index) => 108 + index));
    expect(ids.length - 3).toBeGreaterThanOrEqual(4);
  });

  it("tells other chats of a shared box what was sent, before it asks what is somebody's", async () => {
    const rig = await seasoned();
    const shared = { box: "common", newestId: 100, startedAt: 0, isInDoubt: false };
    await rig.gate.report({
      address: chatOf(8),
      speaker: "eight",
      news: { ...shared, sentIds: [101], newestId: 101 },
    });
    await rig.clock.advance(300);
    await rig.ask("post", TOPIC, { news: { ...shared, sentIds: [102] } });
    const { ids } = await rig.gate.unclaimed(question({ ...shared, sentIds: [103] }));
    expect(ids.slice(0, 2)).toEqual([104, 105]);
    // A gate in another object.
    const other = gateRig({ clock: rig.clock, root: rig.root });
    const asked = { ...question(shared), address: chatOf(9), speaker: "nine" };
    expect((await other.gate.unclaimed(asked)).ids[0]).toBe(104);
  });

  it("does not take another chat's ids for those of a box of its own", async () => {
    const { gate, root } = await seasoned();
    root.noteIncoming("telegram", "-8", false, [101]);
    root.noteIncoming("other-bot", "7", false, [102]);
    expect((await gate.unclaimed(question())).ids.slice(0, 2)).toEqual([101, 102]);
  });

  it("passes the newest id on with each grant, also what the root knows of a shared box", async () => {
    const { ask, root } = await seasoned();
    root.noteIncoming("telegram", "common", true, [150]);
    const news = { box: "common", sentIds: [], newestId: 100, startedAt: 0, isInDoubt: false };
    const first: Grant = await ask("post", TOPIC, { isPost: true, news });
    expect(first).toMatchObject({ kind: "granted", newestId: 150 });
  });

  it("says when another one may own what is found", async () => {
    const { ask, gate, clock } = await seasoned();
    await ask("post", inTopic(3), { ...POST, speaker: "three" });
    const busy = await gate.unclaimed(question());
    expect(busy.claim).toBe("busy");
    expect(busy.right).toBeUndefined();
    // It says nothing any more.
    await clock.advance(30_000);
    expect(await gate.unclaimed(question())).toMatchObject({
      claim: "uncertain",
      right: { ticket: 2, isShared: true },
    });
    await gate.report({
      address: inTopic(3),
      speaker: "three",
      news: { ...QUIET, sentIds: [101], newestId: 101, ticket: 1 },
    });
    expect(await gate.unclaimed(question())).toMatchObject({ claim: "certain", right: { ticket: 3 } });
  });

  it("says so too of the gate's own object", async () => {
    const { gate } = await seasoned({ local: { ...NOBODY, isInDoubt: () => true } });
    const { claim, right } = await gate.unclaimed(question());
    expect([claim, right]).toEqual(["busy", undefined]);
  });
});

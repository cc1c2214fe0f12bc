import { describe, expect, it } from "vitest";
import { GateClient } from "../../../delivery/budget/gate-client.ts";
import type { ChatGate, ChatNews, Grant, LostPostQuestion } from "../../../src/core/chat/gate.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { gateWith } from "../../support/chat-gates.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, createHarness, SPEAKER } from "./engine-harness.ts";
import { inTopic } from "./gate-rig.ts";

interface Said {
  readonly kind: "acquire" | "penalize" | "report" | "unclaimed";
  readonly afterMs: number;
  readonly news?: ChatNews | undefined;
  readonly retryAfterMs?: number;
}

/** A client of a gate that answers as it is told, and remembers what it was told. */
function clientRig(options: { readonly isShared?: boolean; readonly recentIds?: readonly number[] } = {}) {
  const clock = createVirtualClock();
  const begin = clock.now();
  const surface = createFakeSurface({ clock, probing: true });
  const said: Said[] = [];
  const state = {
    isInDoubt: false,
    isDown: false,
    ticket: 0,
    delayMs: 0,
    grant: undefined as Grant | undefined,
  };
  const hear = async (what: Omit<Said, "afterMs">): Promise<void> => {
    said.push({ ...what, afterMs: clock.now() - begin });
    const { delayMs, isDown } = state;
    if (delayMs > 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, delayMs));
    if (isDown) throw new Error("down");
  };
  const gate: ChatGate = {
    acquire: async ({ isPost = false, news }) => {
      await hear({ kind: "acquire", news });
      if (state.grant !== undefined) return state.grant;
      if (!isPost || news === undefined) return { kind: "granted" };
      state.ticket += 1;
      return { kind: "granted", right: { ticket: state.ticket, isShared: options.isShared === true } };
    },
    penalize: (_address, retryAfterMs) => hear({ kind: "penalize", retryAfterMs }),
    report: ({ news }) => hear({ kind: "report", news }),
    unclaimed: async ({ news }: LostPostQuestion) => {
      await hear({ kind: "unclaimed", news });
      return { ids: [], newestId: 0, postedUpTo: 0, searches: 1, claim: "certain" };
    },
    noteCard: () => Promise.resolve(),
    findCard: () => Promise.resolve(undefined),
    claimMessage: () => Promise.resolve(undefined),
  };
  const asked: string[] = [];
  const client = new GateClient({
    clock,
    gates: { speaker: SPEAKER, gateOf: () => gate },
    isInDoubt: () => state.isInDoubt,
    isUnresolved: () => false,
    recentIds: ({ threadId }) => {
      asked.push(threadId);
      return options.recentIds ?? [];
    },
  });
  const { probing } = surface;
  if (probing === undefined) throw new TypeError("The surface numbers its messages.");
  return {
    asked,
    client,
    clock,
    said,
    state,
    surface,
    acquire: (purpose: "post" | "edit" | "typing" = "edit", address: Address = ADDRESS) =>
      client.acquire(address, purpose, surface, purpose === "post" ? 8_000 : undefined),
    sent: (id: number | string, address = ADDRESS) => client.sent(address, surface, `${id}`),
    notSent: () => client.notSent(ADDRESS, surface),
    unclaimed: () => client.unclaimed(ADDRESS, probing, { afterId: 100 }),
    reports: () => said.filter(({ kind }) => kind === "report"),
    newsNow: () => said.at(-1)?.news,
  };
}

describe("reports the outcome of a post (1)", () => {
  it("once, with the next request", async () => {
    const { acquire, clock, newsNow, sent, said } = clientRig();
    await acquire("post");
    sent(101);
    await acquire();
    expect(newsNow()).toMatchObject({ sentIds: [101], newestId: 101, ticket: 1, isInDoubt: false });
    await acquire();
    expect(newsNow()).toMatchObject({ sentIds: [], newestId: 101, ticket: 1 });
    await clock.advance(10_000);
    expect(said.map(({ kind }) => kind)).toEqual(["acquire", "acquire", "acquire"]);
  });

  it("after half a second without a request", async () => {
    const { acquire, clock, reports, sent } = clientRig();
    await acquire("post");
    sent(101);
    sent(102);
    await clock.advance(499);
    expect(reports()).toEqual([]);
    await clock.advance(1);
    expect(reports()).toMatchObject([
      { afterMs: 500, news: { sentIds: [101, 102], newestId: 102, ticket: 1, isInDoubt: false } },
    ]);
    await clock.advance(10_000);
    expect(reports()).toHaveLength(1);
  });

  it("at once if others wait for it", async () => {
    const { acquire, clock, reports, sent } = clientRig({ isShared: true });
    await acquire("post");
    await clock.advance(700);
    sent(101);
    await clock.advance(0);
    expect(reports()).toMatchObject([{ afterMs: 700, news: { sentIds: [101], ticket: 1 } }]);
    await clock.advance(10_000);
    expect(reports()).toHaveLength(1);
  });

  it("with a request that follows immediately, even if others wait for it", async () => {
    const { acquire, clock, newsNow, reports, sent } = clientRig({ isShared: true });
    await acquire("post");
    sent(101);
    await acquire("post");
    expect(newsNow()).toMatchObject({ sentIds: [101], ticket: 1 });
    await clock.advance(10_000);
    expect(reports()).toEqual([]);
  });

  it("before the question of another thread of the same object, which may wait for that", async () => {
    const { acquire, said, sent } = clientRig({ isShared: true });
    await acquire("post");
    sent(101);
    await acquire("post", inTopic(2));
    expect(said.map(({ kind, news }) => [kind, news?.sentIds])).toEqual([
      ["acquire", []],
      ["report", [101]],
      ["acquire", []],
    ]);
  });

  it.each([
    ["at once where others wait for it", true, 0],
    ["after half a second", false, 500],
  ])("also when it was not made: %s", async (_name, isShared, afterMs) => {
    const { acquire, clock, notSent, reports } = clientRig({ isShared });
    await acquire("post");
    notSent();
    await clock.advance(10_000);
    expect(reports()).toMatchObject([{ afterMs, news: { sentIds: [], ticket: 1, isInDoubt: false } }]);
  });

  it("and reports nothing if there is nothing new", async () => {
    const { acquire, clock, notSent, reports } = clientRig({ isShared: true });
    notSent();
    await acquire("edit");
    notSent();
    await acquire("post");
    await acquire("edit");
    // That has told it.
    notSent();
    await clock.advance(10_000);
    expect(reports()).toEqual([]);
  });

  it("with a search for a lost post", async () => {
    const { acquire, clock, newsNow, reports, sent, state, unclaimed } = clientRig();
    await acquire("post");
    sent(101);
    state.isInDoubt = true;
    await unclaimed();
    expect(newsNow()).toMatchObject({ sentIds: [101], ticket: 1, isInDoubt: true });
    await clock.advance(500);
    // The right is still held.
    expect(reports()).toMatchObject([{ news: { sentIds: [], isInDoubt: true } }]);
  });

  it("again when the gate could not be reached", async () => {
    const { acquire, clock, newsNow, reports, sent, state } = clientRig({ isShared: true });
    await acquire("post");
    state.isDown = true;
    sent(101);
    await clock.advance(0);
    await expect(acquire()).rejects.toThrow("down");
    state.isDown = false;
    sent(102);
    await clock.advance(0);
    expect(reports().at(-1)?.news?.sentIds).toEqual([101, 102]);
    await acquire();
    expect(newsNow()?.sentIds).toEqual([]);
  });

  it("of messages sent during a request with the next request", async () => {
    const { acquire, clock, newsNow, sent, state } = clientRig();
    await acquire("post");
    sent(101);
    state.delayMs = 100;
    const asked = acquire();
    sent(102);
    await clock.advance(100);
    await asked;
    state.delayMs = 0;
    await acquire();
    expect(newsNow()?.sentIds).toEqual([102]);
  });

  it("separately for each thread", async () => {
    const { acquire, newsNow, sent } = clientRig();
    sent(101, inTopic(1));
    await acquire("edit", inTopic(2));
    expect(newsNow()?.sentIds).toEqual([]);
    await acquire("edit", inTopic(1));
    expect(newsNow()?.sentIds).toEqual([101]);
  });

  it("after a start for messages of an earlier process, once for each thread", async () => {
    const { acquire, asked, newsNow } = clientRig({ recentIds: [101, 102] });
    await acquire();
    expect(newsNow()).toMatchObject({ sentIds: [101, 102], newestId: 102 });
    expect(newsNow()).not.toHaveProperty("ticket");
    await acquire();
    expect(newsNow()?.sentIds).toEqual([]);
    expect(asked).toEqual([ADDRESS.threadId]);
  });

  it("and reports nothing on platforms without numbered messages", async () => {
    const { client, clock, said } = clientRig();
    const plain = createFakeSurface({ clock });
    await client.acquire(ADDRESS, "post", plain, 8_000);
    client.sent(ADDRESS, plain, "abc");
    client.notSent(ADDRESS, plain);
    await clock.advance(10_000);
    expect(said).toMatchObject([{ kind: "acquire", news: undefined }]);
    expect(client.newestId(ADDRESS, plain)).toBe(0);
  });

  it("and ignores an id that is not a number", async () => {
    const { acquire, newsNow, sent } = clientRig();
    sent("m1");
    await acquire();
    expect(newsNow()).toMatchObject({ sentIds: [], newestId: 0 });
  });
});

describe("keeps a penalty that could not be reported (2)", () => {
  it("and reports its remaining time again each second", async () => {
    const { acquire, client, clock, said, state } = clientRig();
    state.isDown = true;
    await expect(client.penalize(ADDRESS, 10_000)).rejects.toThrow("down");
    const until = clock.now() + 10_000;
    expect(await acquire()).toEqual({ kind: "wait", retryAt: until, reason: "penalty" });
    await clock.advance(2_500);
    state.isDown = false;
    await clock.advance(500);
    expect(said).toMatchObject([
      { kind: "penalize", afterMs: 0, retryAfterMs: 10_000 },
      { kind: "penalize", afterMs: 1_000, retryAfterMs: 9_000 },
      { kind: "penalize", afterMs: 2_000, retryAfterMs: 8_000 },
      { kind: "penalize", afterMs: 3_000, retryAfterMs: 7_000 },
    ]);
    await clock.advance(60_000);
    expect(said).toHaveLength(4);
    // It is the gate's to keep from here on.
    expect((await acquire()).kind).toBe("granted");
  });

  it("for all its threads in the chat, and for no other chat", async () => {
    const { acquire, client, state } = clientRig();
    state.isDown = true;
    await expect(client.penalize(ADDRESS, 10_000)).rejects.toThrow("down");
    state.isDown = false;
    expect(await acquire("post", inTopic(2))).toMatchObject({ reason: "penalty" });
    expect((await acquire("post", { ...ADDRESS, chatId: "8", threadId: "telegram:8" })).kind).toBe("granted");
  });

  it("as the longer one of two", async () => {
    const { acquire, client, clock, state } = clientRig();
    state.isDown = true;
    await expect(client.penalize(ADDRESS, 10_000)).rejects.toThrow("down");
    await expect(client.penalize(ADDRESS, 2_000)).rejects.toThrow("down");
    expect(await acquire()).toMatchObject({ retryAt: clock.now() + 10_000 });
  });

  it("until it is over", async () => {
    const { acquire, client, clock, said, state } = clientRig();
    state.isDown = true;
    await expect(client.penalize(ADDRESS, 3_500)).rejects.toThrow("down");
    await clock.advance(3_499);
    expect(await acquire()).toMatchObject({ reason: "penalty" });
    await clock.advance(1);
    state.isDown = false;
    expect((await acquire()).kind).toBe("granted");
    const told = said.length;
    await clock.advance(60_000);
    expect(said.length).toBe(told);
  });

  it("also while the gate is slow to answer", async () => {
    const { acquire, client, clock, state } = clientRig();
    state.delayMs = 4_000;
    const told = client.penalize(ADDRESS, 10_000);
    expect(await acquire()).toMatchObject({ reason: "penalty" });
    await clock.advance(4_000);
    await told;
    state.delayMs = 0;
    expect((await acquire()).kind).toBe("granted");
  });
});

describe("makes no request before the chat's rate allows it (3)", () => {
  it("whatever the call, from any thread of the chat", async () => {
    const { acquire, clock, said, state } = clientRig();
    const now = clock.now();
    state.grant = { kind: "granted", next: { post: now + 1_000, edit: now + 2_000, typing: now + 3_000 } };
    await acquire();
    for (const [purpose, readyAfterMs] of [
      ["post", 1_000],
      ["edit", 2_000],
      ["typing", 3_000],
    ] as const) {
      const wait = { kind: "wait", retryAt: now + readyAfterMs, reason: "pacing" };
      expect(await acquire(purpose)).toEqual(wait);
      expect(await acquire(purpose, inTopic(2))).toEqual(wait);
    }
    expect(said).toHaveLength(1);
    await clock.advance(1_000);
    await acquire("post");
    expect(said).toHaveLength(2);
  });

  it("and forgets the time with the next answer, and asks for other chats", async () => {
    const { acquire, clock, said, state } = clientRig();
    const later = clock.now() + 5_000;
    state.grant = { kind: "granted", next: { post: clock.now(), edit: later, typing: later } };
    await acquire();
    expect((await acquire("edit", { ...ADDRESS, chatId: "8", threadId: "telegram:8" })).kind).toBe("granted");
    expect(said).toHaveLength(2);
    state.grant = { kind: "granted", next: { post: 0, edit: 0, typing: 0 } };
    await acquire("post");
    expect((await acquire("edit")).kind).toBe("granted");
    expect(said).toHaveLength(4);
  });
});

describe("knows the newest id of the chat's box", () => {
  it("from sent messages, received messages and the gate's answers", async () => {
    const { acquire, client, sent, state, surface } = clientRig();
    const newest = (): number => client.newestId(ADDRESS, surface);
    expect(newest()).toBe(0);
    client.knows(ADDRESS, surface, "100");
    expect(newest()).toBe(100);
    state.grant = { kind: "granted", newestId: 150 };
    await acquire();
    expect(newest()).toBe(150);
    sent(151);
    client.knows(ADDRESS, surface, "120");
    expect(newest()).toBe(151);
  });
});

it("reports nothing about a right whose grant is still on its way", async () => {
  const { acquire, clock, newsNow, state } = clientRig();
  await acquire("post");
  state.delayMs = 100;
  const post = acquire("post");
  const typing = acquire("typing");
  expect(newsNow()?.ticket).toBe(1);
  await clock.advance(100);
  await Promise.all([post, typing]);
  state.delayMs = 0;
  await acquire();
  expect(newsNow()?.ticket).toBe(2);
});

describe("as the engine uses it", () => {
  it("returns the right if a granted post is not made, so that others may post", async () => {
    const reports: ChatNews[] = [];
    const rights: number[] = [];
    let arrive = (): void => {};
    const harness = createHarness({
      isOwnGate: false,
      surface: { probing: true, capabilities: { typing: false } },
      gate: (real) =>
        gateWith(real, {
          acquire: async (request) => {
            const grant = await real.acquire(request);
            if (grant.kind === "granted" && grant.right !== undefined) {
              rights.push(grant.right.ticket);
              if (rights.length === 1) await new Promise<void>((resolve) => (arrive = resolve));
            }
            return grant;
          },
          report: (told) => {
            reports.push(told.news);
            return real.report(told);
          },
        }),
    });
    const { surface, delivery, start, advance, gate } = harness;
    await advance(60_000);
    const address = inTopic(1);
    delivery.open(start("r1", { address, seenMessageId: "100" }));
    delivery.append("r1", "On second thoughts");
    await advance(100);
    expect(rights).toEqual([1]);
    delivery.withdraw("r1");
    arrive();
    await advance(10);
    expect(surface.calls).toEqual([]);
    expect(reports).toMatchObject([{ ticket: 1, isInDoubt: false, sentIds: [] }]);
    const news = { box: "common", sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false };
    expect(
      await gate.acquire({
        address: inTopic(2),
        purpose: "post",
        pacing: surface.pacing,
        speaker: "another object",
        isPost: true,
        news,
      }),
    ).toMatchObject({ kind: "granted", right: { ticket: 2 } });
  });

  it("returns the right if the platform refuses the post, and keeps it while the post is in doubt", async () => {
    const { surface, delivery, start, advance, gate } = createHarness({
      isOwnGate: false,
      surface: { probing: true, capabilities: { typing: false } },
      policy: { callTimeoutMs: 1_000 },
    });
    await advance(60_000);
    const news = { box: "common", sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false };
    const ask = () =>
      gate.acquire({
        address: inTopic(2),
        purpose: "post",
        pacing: surface.pacing,
        speaker: "another object",
        isPost: true,
        news,
      });
    surface.fault("post", {
      kind: "fail",
      failure: { kind: "gone", code: "topic-missing", scope: "thread" },
    });
    delivery.send(start("r1", { address: inTopic(1), seenMessageId: "100" }), "One.");
    await advance(60);
    expect(await ask()).toMatchObject({ kind: "granted" });
    await gate.report({ address: inTopic(2), speaker: "another object", news: { ...news, ticket: 2 } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r2", { address: inTopic(3), seenMessageId: "100" }), "Two.");
    for (let waited = 0; waited < 2_500; waited += 100) {
      await advance(100);
      expect(await ask(), `after ${waited} ms`).toMatchObject({ kind: "wait", reason: "post" });
    }
    await advance(5_000);
    expect(surface.visible("7")).toEqual(["Two."]);
    expect(await ask()).toMatchObject({ kind: "granted" });
  });
});

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { RightToPost } from "../../../delivery/budget/right-to-post.ts";
import type { CallRequest, ChatNews, Grant, LocalSpeaker } from "../../../src/core/chat/gate.ts";
import type { Address, Pacing } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { gateRig, inTopic, OWN, seasoned } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";

const WIDE = { burst: 1_000, everyMs: 1 };
const PACING: Pacing = { direct: WIDE, group: WIDE, global: WIDE };

const NORTH = inTopic(1);
const SOUTH = inTopic(2);

interface Forum {
  readonly rig: GateRig;
  readonly restart: () => Forum;
  /** Asks for a post. */
  readonly post: (address: Address, news?: Partial<ChatNews>) => Promise<Grant>;
  readonly tell: (address: Address, news?: Partial<ChatNews>) => Promise<void>;
  readonly claim: (address: Address, news?: Partial<ChatNews>) => Promise<string>;
  /** Searches for a lost post. Returns the ticket of the right that it holds then. */
  readonly search: (address: Address, news?: Partial<ChatNews>) => Promise<number | undefined>;
}

const newsOf = (news: Partial<ChatNews>): ChatNews => ({
  box: "7",
  sentIds: [],
  newestId: 0,
  startedAt: 0,
  isInDoubt: false,
  ...news,
});

/** Each topic speaks from an object of its own. */
const speakerOf = ({ threadId }: Address): string => `object of ${threadId}`;

function forumOf(rig: GateRig): Forum {
  return {
    rig,
    restart: () => forumOf(rig.restart()),
    post: (address, news = {}) => {
      const more: Partial<CallRequest> = { isPost: true, news: newsOf(news), speaker: speakerOf(address) };
      return rig.ask("post", address, more);
    },
    tell: (address, news = {}) =>
      rig.gate.report({ address, speaker: speakerOf(address), news: newsOf(news) }),
    claim: async (address, news = {}) => {
      const asked = { address, speaker: speakerOf(address), news: newsOf(news), afterId: 100 };
      return (await rig.gate.unclaimed(asked)).claim;
    },
    search: async (address, news = {}) => {
      const asked = { address, speaker: speakerOf(address), news: newsOf(news), afterId: 100 };
      return (await rig.gate.unclaimed(asked)).right?.ticket;
    },
  };
}

const forum = async (local: LocalSpeaker = NOBODY): Promise<Forum> =>
  forumOf(await seasoned({ local, pacing: PACING }));

const HELD = { kind: "wait", reason: "post" };
const ticketOf = (grant: Grant): number | undefined =>
  grant.kind === "granted" ? grant.right?.ticket : undefined;

it("belongs to one speaker until it reports the outcome of its post", async () => {
  const { post, tell } = await forum();
  expect(ticketOf(await post(NORTH))).toBe(1);
  expect(await post(SOUTH)).toMatchObject(HELD);
  await tell(NORTH, { ticket: 1, sentIds: [101] });
  expect(ticketOf(await post(SOUTH))).toBe(2);
  expect(await post(NORTH, { ticket: 1 })).toMatchObject(HELD);
});

it("lets waiting speakers ask again soon, and less often the longer it takes", async () => {
  const { post, rig } = await forum();
  await post(NORTH);
  const waits: number[] = [];
  for (const afterMs of [0, 100, 900, 1_000, 3_000]) {
    await rig.clock.advance(afterMs);
    const grant = await post(SOUTH);
    if (grant.kind === "wait") waits.push(grant.retryAt - rig.clock.now());
  }
  expect(waits).toEqual([250, 250, 1_000, 2_000, 2_000]);
});

it("is given to the same holder again at once", async () => {
  const { post } = await forum();
  expect(ticketOf(await post(NORTH))).toBe(1);
  // The post was not made, and nobody was told: the next one is asked for.
  expect(ticketOf(await post(NORTH, { ticket: 1 }))).toBe(2);
});

it("survives the gate's death while a post is under way", async () => {
  const { post, restart, rig } = await forum();
  await post(NORTH);
  await rig.clock.advance(2_000);
  const again = restart();
  expect(await again.post(SOUTH)).toMatchObject(HELD);
  expect(await again.claim(SOUTH)).toBe("busy");
  await again.tell(NORTH, { ticket: 1, sentIds: [101] });
  expect(ticketOf(await again.post(SOUTH))).toBe(2);
});

it("gives no ticket twice, also after the gate's death", async () => {
  const { post, restart, tell } = await forum();
  const tickets: (number | undefined)[] = [];
  let current: Pick<Forum, "post" | "restart" | "tell"> = { post, restart, tell };
  for (let life = 0; life < 4; life += 1) {
    for (const topic of [NORTH, SOUTH]) {
      const ticket = ticketOf(await current.post(topic));
      tickets.push(ticket);
      await current.tell(topic, { ...(ticket !== undefined && { ticket }) });
    }
    current = current.restart();
  }
  expect(tickets).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it("is free after the gate's death when it was free before", async () => {
  const { post, restart, tell } = await forum();
  await post(NORTH);
  await tell(NORTH, { ticket: 1 });
  expect(ticketOf(await restart().post(SOUTH))).toBe(2);
});

it("expires when its holder is silent, and a found message may then be the holder's", async () => {
  const { post, claim, rig, restart } = await forum();
  await post(NORTH);
  await rig.clock.advance(29_999);
  expect(await post(SOUTH)).toMatchObject(HELD);
  await rig.clock.advance(1);
  expect(ticketOf(await post(SOUTH))).toBe(2);
  expect(await claim(SOUTH, { ticket: 2, isInDoubt: true })).toBe("uncertain");
  expect(await restart().claim(SOUTH, { ticket: 2, isInDoubt: true }), "after a start").toBe("uncertain");
});

it("is certain again for the silent holder, about its own message", async () => {
  const { post, claim, rig } = await forum();
  await post(NORTH);
  await rig.clock.advance(30_000);
  expect(await claim(NORTH, { ticket: 1, isInDoubt: true })).toBe("certain");
  // It says something: it holds the right again.
  expect(await post(SOUTH)).toMatchObject(HELD);
});

it("is certain again as soon as a later post with a higher id is known", async () => {
  const { post, claim, rig, tell } = await forum();
  await post(NORTH);
  await rig.clock.advance(30_000);
  await post(SOUTH);
  await tell(SOUTH, { ticket: 2, sentIds: [105], newestId: 105 });
  await post(SOUTH, { ticket: 2 });
  expect(await claim(SOUTH, { ticket: 3, isInDoubt: true })).toBe("certain");
});

it("is certain again when the silent holder reports that it has no doubt", async () => {
  const { post, claim, rig, tell } = await forum();
  await post(NORTH);
  await rig.clock.advance(30_000);
  await post(SOUTH);
  await tell(NORTH, { ticket: 1 });
  expect(await claim(SOUTH, { ticket: 2, isInDoubt: true })).toBe("certain");
  expect(await post(NORTH, { ticket: 1 }), "and takes it from nobody").toMatchObject(HELD);
});

it("stays uncertain when the silent holder reports an outcome that it cannot find out", async () => {
  const { post, claim, restart, rig, tell } = await forum();
  await post(NORTH);
  await rig.clock.advance(30_000);
  await post(SOUTH);
  await tell(NORTH, { ticket: 1, isUnresolved: true });
  expect(await claim(SOUTH, { ticket: 2, isInDoubt: true })).toBe("uncertain");
  expect(await restart().claim(SOUTH, { ticket: 2, isInDoubt: true }), "after a start").toBe("uncertain");
});

it("is held for as long as its holder reports a search", async () => {
  const { post, search, tell, rig } = await forum();
  let ticket = ticketOf(await post(NORTH));
  for (let minute = 0; minute < 5; minute += 1) {
    await rig.clock.advance(25_000);
    await tell(NORTH, { ...(ticket !== undefined && { ticket }), isInDoubt: true });
    expect(await post(SOUTH)).toMatchObject(HELD);
    await rig.clock.advance(85_000);
    ticket = await search(NORTH, { ...(ticket !== undefined && { ticket }), isInDoubt: true });
    expect(ticket).toBeDefined();
    expect(await post(SOUTH)).toMatchObject(HELD);
  }
});

it("is taken by a searching speaker, so that nobody posts between a question and its answer", async () => {
  const { post, search, restart, tell } = await forum();
  const ticket = await search(NORTH, { isInDoubt: true });
  expect(ticket).toBe(1);
  expect(await post(SOUTH)).toMatchObject(HELD);
  expect(await restart().post(SOUTH), "also after the gate's death").toMatchObject(HELD);
  await tell(NORTH, { ticket: 1 });
  expect(ticketOf(await post(SOUTH))).toBe(2);
  expect(
    await search(NORTH, { isInDoubt: true }),
    "and by nobody while another one holds it",
  ).toBeUndefined();
});

it("is held over a penalty, in which its holder cannot report", async () => {
  const { post, rig, tell } = await forum();
  await post(NORTH);
  await tell(NORTH, { ticket: 1, isInDoubt: true });
  await rig.gate.penalize(NORTH, 3_600_000);
  await rig.clock.advance(3_600_000);
  expect(await post(SOUTH)).toMatchObject(HELD);
});

it("waits for its holder for ten seconds after the gate's start, however long the gate was away", async () => {
  const { post, restart, rig } = await forum();
  await post(NORTH);
  await rig.clock.advance(3_600_000);
  const again = restart();
  expect(await again.post(SOUTH)).toMatchObject(HELD);
  await rig.clock.advance(9_999);
  expect(await again.post(SOUTH)).toMatchObject(HELD);
  await rig.clock.advance(1);
  expect(ticketOf(await again.post(SOUTH))).toBe(2);
});

it("is not released by a report about an older one", async () => {
  const { post, tell, restart } = await forum();
  await post(NORTH);
  await tell(NORTH, { ticket: 1, sentIds: [101] });
  expect(ticketOf(await post(NORTH, { ticket: 1 }))).toBe(2);
  await tell(NORTH, { ticket: 1 });
  expect(await post(SOUTH)).toMatchObject(HELD);
  const again = restart();
  await again.tell(NORTH, { ticket: 1 });
  expect(await again.post(SOUTH), "after a start").toMatchObject(HELD);
});

it("is not taken by a report about an older one", async () => {
  const { post, tell } = await forum();
  await post(NORTH);
  await tell(NORTH, { ticket: 1, sentIds: [101] });
  // Said before that, come later.
  await tell(NORTH, { ticket: 1, isInDoubt: true });
  expect(ticketOf(await post(SOUTH))).toBe(2);
});

it("is not taken by a report about an older one from before the gate's start", async () => {
  const { post, restart, tell } = await forum();
  await post(NORTH);
  await tell(NORTH, { ticket: 1, sentIds: [101] });
  const again = restart();
  await again.tell(NORTH, { ticket: 1, isInDoubt: true });
  expect(ticketOf(await again.post(SOUTH))).toBe(2);
});

it("is released by a holder that has started again and knows of no doubt", async () => {
  const { post, tell } = await forum();
  await post(NORTH);
  await tell(NORTH, { startedAt: 1 });
  expect(ticketOf(await post(SOUTH))).toBe(2);
});

it("is kept by a holder that has started again and has a post in doubt", async () => {
  const { post, tell, restart } = await forum();
  await post(NORTH);
  await tell(NORTH, { startedAt: 1, isInDoubt: true });
  expect(await post(SOUTH)).toMatchObject(HELD);
  expect(await restart().post(SOUTH)).toMatchObject(HELD);
});

it("is not released by a report from before the holder got it, or from before it died", async () => {
  const { post, tell } = await forum();
  // Typing was asked for while the grant was on its way.
  await post(NORTH, { startedAt: 5 });
  await tell(NORTH, { startedAt: 5 });
  expect(await post(SOUTH)).toMatchObject(HELD);
  await tell(NORTH, { startedAt: 4, ticket: 0 });
  expect(await post(SOUTH)).toMatchObject(HELD);
});

it("belongs to a thread, not to an object: two topics of one object wait for each other, too", async () => {
  const { rig } = await forum();
  const ask = (address: Address) =>
    rig.ask("post", address, { isPost: true, news: newsOf({}), speaker: "one object" });
  expect(ticketOf(await ask(NORTH))).toBe(1);
  expect(await ask(SOUTH)).toMatchObject(HELD);
});

/** What a random speaker may do. */
type Step =
  | { readonly kind: "post" | "report" | "edit" | "search" | "restart"; readonly speaker: number }
  | { readonly kind: "resolve"; readonly speaker: number; readonly isMade: boolean }
  /** Says what is so now, and is heard at a later step. */
  | { readonly kind: "say-late" | "learn"; readonly speaker: number }
  | { readonly kind: "hear"; readonly which: number }
  | { readonly kind: "restart-gate" }
  | { readonly kind: "wait"; readonly milliseconds: number };

const speaker = fc.integer({ min: 0, max: 3 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom("post", "post", "learn", "learn", "report", "edit", "search", "restart"),
        speaker,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("resolve" as const), speaker, isMade: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("say-late" as const), speaker }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("hear" as const), which: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.constant({ kind: "restart-gate" as const }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("wait" as const),
        milliseconds: fc.integer({ min: 1, max: 4_000 }),
      }),
    },
  ),
  { maxLength: 120, size: "max" },
);

class Speaker {
  readonly address: Address;
  readonly name: string;
  startedAt = 0;
  isInDoubt = false;
  /** A grant of a post that is on its way to it, and until when it would still use it. */
  grant: { readonly ticket: number | undefined; readonly until: number } | undefined;
  ticket: number | undefined;
  sent: readonly number[] = [];
  readonly late: (() => Promise<void>)[] = [];

  constructor(index: number) {
    // Two of them speak from the gate's own object.
    this.address = inTopic(index);
    this.name = index < 2 ? OWN : `object ${index}`;
  }

  get isLocal(): boolean {
    return this.name === OWN;
  }

  get news(): ChatNews {
    const { isInDoubt, sent, startedAt, ticket } = this;
    return newsOf({
      sentIds: sent,
      newestId: Math.max(0, ...sent),
      startedAt,
      isInDoubt,
      ...(ticket !== undefined && { ticket }),
    });
  }

  restart(now: number): void {
    this.startedAt = now;
    this.ticket = undefined;
    this.grant = undefined;
  }
}

it("is not freed by a late report of a dead process whose ticket had the same number", () => {
  const right = new RightToPost({
    stored: undefined,
    sentIds: [],
    startedAt: 1_000,
    penaltyUntil: 0,
    write: () => {},
  });
  const ticket = right.give(OWN, 1_000, false, 1_000);
  right.hear(OWN, newsOf({ sentIds: [], newestId: 0, startedAt: 0, isInDoubt: false, ticket }), false, 1_001);
  expect(right.heldUntil("object 3", 1_002)).toBeGreaterThan(1_002);
  right.hear(
    OWN,
    newsOf({ sentIds: [], newestId: 0, startedAt: 1_000, isInDoubt: false, ticket }),
    false,
    1_003,
  );
  expect(right.heldUntil("object 3", 1_004)).toBeUndefined();
});

it("never belongs to two speakers at once, whoever asks, reports late or dies", async () => {
  let rights = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const speakers = [0, 1, 2, 3].map((index) => new Speaker(index));
      const local: LocalSpeaker = {
        ...NOBODY,
        isInDoubt: (_chat, exceptThreadId) =>
          speakers.some(
            ({ address, isInDoubt, isLocal }) => isLocal && isInDoubt && address.threadId !== exceptThreadId,
          ),
      };
      let rig = gateRig({ local, pacing: PACING });
      await rig.clock.advance(60_000);
      let lastId = 100;
      const request = (one: Speaker, isPost: boolean): Partial<CallRequest> => ({
        speaker: one.name,
        isPost,
        news: one.news,
      });
      const report = (one: Speaker, news: ChatNews): Promise<void> =>
        rig.gate.report({ address: one.address, speaker: one.name, news });
      for (const step of plan) {
        switch (step.kind) {
          case "wait":
            await rig.clock.advance(step.milliseconds);
            // Whoever is in doubt says something now and then.
            for (const one of speakers) if (one.isInDoubt) await report(one, one.news);
            continue;
          case "restart-gate":
            await rig.clock.advance(1);
            rig = rig.restart();
            for (const one of speakers) if (one.isLocal) one.restart(rig.clock.now());
            continue;
          case "hear": {
            const late = speakers.flatMap((one) => one.late.map((heard, at) => ({ one, heard, at })));
            const chosen = late[step.which];
            if (chosen === undefined) continue;
            chosen.one.late.splice(chosen.at, 1);
            await chosen.heard();
            continue;
          }
          default:
        }
        const one = speakers[step.speaker];
        if (one === undefined) continue;
        switch (step.kind) {
          case "post": {
            if (one.isInDoubt || one.grant !== undefined) continue;
            const grant = await rig.ask("post", one.address, request(one, true));
            if (grant.kind !== "granted") continue;
            expect(
              speakers.filter(({ isInDoubt }) => isInDoubt).map(({ address }) => address.threadId),
              `in doubt when ${one.address.threadId} may post`,
            ).toEqual([]);
            rights += 1;
            one.grant = { ticket: ticketOf(grant), until: rig.clock.now() + 5_000 };
            one.sent = [];
            continue;
          }
          case "learn": {
            const { grant } = one;
            if (grant === undefined) continue;
            one.grant = undefined;
            one.ticket = grant.ticket;
            if (rig.clock.now() >= grant.until) continue;
            expect(speakers.filter((other) => other.isInDoubt).length, "in doubt when one posts").toBe(0);
            one.isInDoubt = true;
            continue;
          }
          case "edit":
            expect(await rig.ask("edit", one.address, request(one, false))).not.toMatchObject(HELD);
            continue;
          case "search": {
            if (!one.isInDoubt) continue;
            const { address, name, news } = one;
            const found = await rig.gate.unclaimed({ address, speaker: name, news, afterId: 100 });
            one.ticket = found.right?.ticket ?? one.ticket;
            // Nobody was silent for so long that it lost the right.
            expect(found.claim).not.toBe("uncertain");
            continue;
          }
          case "report":
            await report(one, one.news);
            continue;
          case "resolve":
            if (!one.isInDoubt) continue;
            one.isInDoubt = false;
            lastId += 1;
            if (step.isMade) one.sent = [lastId];
            continue;
          case "say-late": {
            const { news } = one;
            one.late.push(() => report(one, news));
            continue;
          }
          case "restart":
            await rig.clock.advance(1);
            if (!one.isLocal) one.restart(rig.clock.now());
            continue;
          default:
            step satisfies never;
        }
      }
    }),
    { numRuns: 500 },
  );
  expect(rights).toBeGreaterThan(500);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InboxRow } from "../../../src/inbox/inbox-store.ts";
import { followsInBurst, nextBatch } from "../../../src/inbox/next-batch.ts";
import { inboxRow, messageEvent } from "../../../lab/support/messenger-events.ts";

const settingsOf = () => ({ burstMs: 1000, staleAfterMs: 60_000 });
const batchOf = (rows: InboxRow[], now = 0) => {
  const next = nextBatch(rows, settingsOf, now);
  return next.kind === "batch" ? next.rows.map((row) => row.seq) : next.kind;
};
const at = (seq: number, receivedAt: number, event = messageEvent({ message: { sentAt: receivedAt } })) =>
  inboxRow(seq, { receivedAt, event });

const inGroup = (event: Parameters<typeof messageEvent>[0] = {}) =>
  messageEvent({
    ...event,
    thread: { id: "telegram:9", chatId: "9", isDirectMessage: false },
  });

describe("nextBatch", () => {
  it("makes one turn of three quick lines and leaves a later one for the next", () => {
    expect(batchOf([at(1, 0), at(2, 900), at(3, 1800), at(4, 9000)], 9000)).toEqual([1, 2, 3]);
  });

  it("does not take an outage's redelivery for one breath", () => {
    const late = messageEvent({ message: { sentAt: 50_000 } });
    expect(
      batchOf([at(1, 50_000, messageEvent({ message: { sentAt: 0 } })), at(2, 50_001, late)], 50_001),
    ).toEqual([1]);
  });

  it("takes the time of writing, not that of a late arrival, for the measure", () => {
    const before = at(1, 5000, messageEvent({ message: { sentAt: 2000 } }));
    expect(batchOf([before, at(2, 5100, messageEvent({ message: { sentAt: 2000 } }))], 9000)).toEqual([1, 2]);
    expect(batchOf([before, at(2, 5100, messageEvent({ message: { sentAt: 5000 } }))], 9000)).toEqual([1]);
  });

  it("keeps the messages of two people, and of two threads, apart", () => {
    const other = messageEvent({ author: { userId: "8" } });
    const elsewhere = messageEvent({ thread: { id: "telegram:2", chatId: "2", isDirectMessage: true } });
    expect(batchOf([at(1, 0), at(2, 10, other), at(3, 20)])).toEqual([1]);
    expect(batchOf([at(1, 0), at(2, 10, elsewhere), at(3, 20)])).toEqual([1, 3]);
  });

  it("waits for a held message and takes a whole album, however slowly it arrives", () => {
    const picture = messageEvent({ message: { albumId: "a" } });
    const held = [
      inboxRow(1, { event: picture, readyAt: 5000 }),
      inboxRow(2, { event: picture, receivedAt: 4000, readyAt: 5000 }),
    ];
    expect(nextBatch(held, settingsOf, 4500)).toEqual({ kind: "wait", until: 5000 });
    expect(batchOf(held, 5000)).toEqual([1, 2]);
  });

  it("answers all that one person wrote before an outage as one", () => {
    const old = (sentAt: number) => messageEvent({ message: { sentAt } });
    expect(
      batchOf([at(1, 200_000, old(0)), at(2, 200_500, old(30_000)), at(3, 201_000, old(190_000))], 201_000),
    ).toEqual([1, 2]);
  });

  it("gives each person of a group a turn of their own after an outage, in the order of their oldest messages", () => {
    const by = (userId: string, sentAt: number) => messageEvent({ author: { userId }, message: { sentAt } });
    const rows = [
      at(1, 200_000, by("ada", 0)),
      at(2, 200_100, by("bob", 10_000)),
      at(3, 200_200, by("ada", 20_000)),
      at(4, 200_300, by("cleo", 30_000)),
      at(5, 200_400, by("bob", 40_000)),
    ];
    const turns: unknown[] = [];
    for (let left = rows; left.length > 0;) {
      const next = batchOf(left, 201_000);
      turns.push(next);
      left = left.filter(({ seq }) => !(Array.isArray(next) && next.includes(seq)));
    }
    expect(turns).toEqual([[1, 3], [2, 5], [4]]);
  });

  it("makes one turn of all that a person of a group has waiting, so that another waits for one answer", () => {
    const by = (userId: string) => (seq: number) =>
      at(seq, seq * 10_000, inGroup({ author: { userId }, message: { sentAt: seq * 10_000 } }));
    const [ada, bob] = [by("ada"), by("bob")];
    const rows = [ada(1), ada(2), bob(3), ada(4), ada(5), bob(6)];
    expect(batchOf(rows, 60_000)).toEqual([1, 2, 4, 5]);
    expect(batchOf([bob(3), bob(6), ada(7)], 70_000)).toEqual([3, 6]);
    const nobody = (seq: number) =>
      at(seq, seq * 10_000, inGroup({ author: undefined, message: { sentAt: seq * 10_000 } }));
    expect(batchOf([nobody(1), nobody(2)], 20_000)).toEqual([1]);
  });

  it("gives each slash command an answer of its own, which the platform has begun to show", () => {
    const said = (seq: number, isSlashCommand: boolean) =>
      at(seq, seq * 100, inGroup({ message: { sentAt: seq * 100, isSlashCommand } }));
    const rows = [said(1, false), said(2, true), said(3, true), said(4, false)];
    expect(batchOf(rows, 60_000)).toEqual([1, 4]);
    expect(batchOf([said(2, true), said(3, true), said(4, false)], 60_000)).toEqual([2]);
    // Also from before an outage.
    expect(batchOf(rows, 600_000)).toEqual([1, 4]);
    expect(followsInBurst(said(1, false), said(2, true), 1000)).toBe(false);
    expect(followsInBurst(said(2, true), said(4, false), 1000)).toBe(false);
  });

  it("does not let a picture that may not be whole hold up what the person of a group wrote before", () => {
    const waiting = inboxRow(1, { event: inGroup(), receivedAt: 0 });
    const held = inboxRow(2, {
      event: inGroup({ message: { sentAt: 9_000 } }),
      receivedAt: 9_000,
      readyAt: 10_000,
    });
    const after = inboxRow(3, { event: inGroup({ message: { sentAt: 9_500 } }), receivedAt: 9_500 });
    expect(batchOf([waiting, held, after], 9_500)).toEqual([1]);
    expect(batchOf([waiting, held, after], 10_000)).toEqual([1, 2, 3]);
  });

  it("takes every message exactly once, and turns in the order of their first messages (I3)", () => {
    const arrivals = fc.array(
      fc.record({
        gap: fc.integer({ min: 0, max: 3000 }),
        user: fc.constantFrom("7", "8"),
        thread: fc.constantFrom("1", "2"),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(arrivals, (list) => {
        let now = 0;
        let queued = list.map(({ gap, user, thread }, index) => {
          now += gap;
          const event = messageEvent({
            author: { userId: user },
            thread: { id: `telegram:${thread}`, chatId: thread, isDirectMessage: thread === "1" },
            message: { sentAt: now },
          });
          return at(index, now, event);
        });
        const taken: InboxRow[] = [];
        while (queued.length > 0) {
          const next = nextBatch(queued, settingsOf, now);
          if (next.kind !== "batch") throw new Error("nothing is held here");
          expect(next.rows[0]).toBe(queued[0]);
          taken.push(...next.rows);
          queued = queued.filter((row) => !next.rows.includes(row));
        }
        expect(taken.map((row) => row.seq).toSorted((a, b) => a - b)).toEqual(list.map((_, index) => index));
        const ordered = (rows: readonly InboxRow[]): boolean =>
          rows.every(({ seq }, index) => index === 0 || seq > (rows[index - 1]?.seq ?? -1));
        expect(ordered(taken.filter((row) => row.incoming.thread.id === "telegram:1"))).toBe(true);
        for (const user of ["7", "8"]) {
          const theirs = taken.filter((row) => row.event?.author?.userId === user);
          expect(ordered(theirs.filter((row) => row.incoming.thread.id === "telegram:2"))).toBe(true);
        }
      }),
    );
  });
});

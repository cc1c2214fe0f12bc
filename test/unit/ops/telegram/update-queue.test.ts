import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UpdateQueue } from "../../../../ops/telegram/update-queue.ts";
import type { RawUpdate } from "../../../../ops/telegram/update-queue.ts";

const message = (id: number, chat: number): RawUpdate => ({ update_id: id, message: { chat: { id: chat } } });
const press = (id: number, chat: number): RawUpdate => ({
  update_id: id,
  callback_query: { id: "1", message: { chat: { id: chat } } },
});

describe("the queue of long polling", () => {
  it("gives out one update of each chat at a time, whatever kind it is", () => {
    const queue = new UpdateQueue();
    queue.add([message(1, 5), press(2, 5), message(3, 6), { update_id: 4, poll: {} }]);
    expect(queue.take(40).map((it) => it.update_id)).toEqual([1, 3, 4]);
    expect(queue.take(40)).toEqual([]);
    queue.accepted(message(1, 5));
    expect(queue.take(40).map((it) => it.update_id)).toEqual([2]);
  });

  it("gives out no more at once than it may", () => {
    const queue = new UpdateQueue();
    queue.add([message(1, 1), message(2, 2), message(3, 3)]);
    expect(queue.take(2).map((it) => it.update_id)).toEqual([1, 2]);
    queue.accepted(message(1, 1));
    expect(queue.take(2).map((it) => it.update_id)).toEqual([3]);
  });

  it("takes ids that begin lower again, as after a week without updates", () => {
    const queue = new UpdateQueue();
    queue.add([message(900, 1)]);
    queue.take(1);
    queue.accepted(message(900, 1));
    queue.confirmed(queue.offset());
    queue.add([message(17, 1)]);
    expect(queue.offset()).toBe(17);
    queue.take(1);
    queue.accepted(message(17, 1));
    expect(queue.offset()).toBe(18);
  });

  it("loses no update, doubles none and keeps the order of each chat, whatever fails", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 99 })),
        (chats, dice) => {
          const roll = (): number => dice.next().value as number;
          const updates = chats.map((chat, index) => message(100 + index, chat));
          const queue = new UpdateQueue();
          const delivered: RawUpdate[] = [];
          let confirmed = 0;
          for (let round = 0; delivered.length < updates.length; round += 1) {
            const offset = queue.offset();
            // Telegram drops everything below the offset, and sends the rest again.
            for (const update of updates.filter(({ update_id: id }) => id < offset)) {
              expect(delivered).toContain(update);
            }
            confirmed = offset;
            queue.confirmed(offset);
            queue.add(updates.filter(({ update_id: id }) => id >= offset).slice(0, 1 + (roll() % 9)));
            for (const update of queue.take(1 + (roll() % 4))) {
              if (round < 50 && roll() < 40) {
                queue.refused(update);
                continue;
              }
              delivered.push(update);
              queue.accepted(update);
            }
          }
          expect(confirmed).toBeLessThanOrEqual(100 + updates.length);
          for (const chat of new Set(chats)) {
            const of = (list: readonly RawUpdate[]): number[] =>
              list
                .filter((it) => (it.message as { chat: { id: number } }).chat.id === chat)
                .map((it) => it.update_id);
            expect(of(delivered)).toEqual(of(updates));
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

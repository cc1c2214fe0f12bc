import { expect, it } from "vitest";
import type { Pacing } from "../../../src/core/chat/surface.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { ADDRESS, MARK } from "./engine-harness.ts";
import { createObjects } from "./objects-harness.ts";
import type { Objects } from "./objects-harness.ts";

const TELEGRAM: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

const addressOf = (chat: number) => ({
  ...ADDRESS,
  chatId: `${1_000 + chat}`,
  threadId: `telegram:${1_000 + chat}`,
});

const textOf = (chat: number): string => `The answer of chat ${chat}.`;

/** Private chats of one bot: an object each, which is its own gate, one root, and one numbering of all messages. */
function bot(count: number): Objects {
  const names = Array.from({ length: count }, (_, chat) => `chat${chat}`);
  return createObjects({
    conversations: Object.fromEntries(
      names.map((name, chat) => [name, { address: addressOf(chat), gate: name }]),
    ),
    policy: { callTimeoutMs: 6_000 },
    surface: { pacing: TELEGRAM },
  });
}

interface Outcome {
  /** Chats that show their answer twice, without saying so. */
  readonly repeated: number;
  /** Chats that show it twice, or say that it was sent again. */
  readonly marked: number;
  /** When the last call was made. */
  readonly lastMs: number;
}

/** All write at once, and the answers' first posts meet these faults. */
async function afterLoss(objects: Objects, count: number, faults: readonly Fault[]): Promise<Outcome> {
  const { advance, clock, root, speaking, surface } = objects;
  await advance(60_000);
  surface.fault("post", ...faults);
  const begunAt = clock.now();
  for (let chat = 0; chat < count; chat += 1) {
    const id = surface.numberForOther();
    root().noteIncoming("telegram", "common", true, [Number(id)]);
    const { delivery, start } = speaking(`chat${chat}`);
    delivery.send(start(`r${chat}`, { seenMessageId: id }), textOf(chat));
  }
  await advance(15 * 60_000);
  let [marked, repeated] = [0, 0];
  for (let chat = 0; chat < count; chat += 1) {
    const visible = surface.visible(addressOf(chat).chatId);
    const texts = new Set(visible.map((text) => text.replace(`${MARK}\n`, "")));
    expect([...texts], `chat ${chat}`).toEqual([textOf(chat)]);
    if (visible.some((text) => text.startsWith(MARK))) marked += 1;
    else if (visible.length > 1) repeated += 1;
    expect(speaking(`chat${chat}`).delivery.receipt(`r${chat}`)?.state).toBe("delivered");
  }
  const lastMs = Math.max(...surface.calls.map(({ at }) => at)) - begunAt;
  return { repeated, marked, lastMs };
}

const lose = (done: boolean): Fault => ({ kind: "lose", done });

/** What becomes of the first post of each chat. */
const MIXES: readonly [string, (chat: number) => Fault][] = [
  ["every second one was made", (chat) => lose(chat % 2 === 0)],
  ["two of three were made", (chat) => lose(chat % 3 !== 0)],
  ["one of three was made", (chat) => lose(chat % 3 === 0)],
  ["all were made", () => lose(true)],
  ["none was made", () => lose(false)],
  ["nothing was ever heard of them", () => ({ kind: "hang" })],
];

/** With how many chats, and how many repetitions with a mark are borne: a search asks about thirty ids. */
const COUNTS: readonly [number, number][] = [
  [5, 0],
  [10, 0],
  [20, 0],
  [50, 25],
];

const CASES = COUNTS.flatMap(([count, most]) =>
  MIXES.map(([name, faultOf]) => ({ count, most, name, faultOf })),
);

it.each(CASES)(
  "shows every answer once when the posts of $count private chats are lost at once and $name",
  async ({ count, most, faultOf }) => {
    const faults = Array.from({ length: count }, (_, chat) => faultOf(chat));
    const { repeated, marked, lastMs } = await afterLoss(bot(count), count, faults);
    expect(repeated, "repetitions without a mark").toBe(0);
    expect(marked, "repetitions with a mark").toBeLessThanOrEqual(most);
    expect(lastMs).toBeLessThanOrEqual(5 * 60_000);
  },
);

it("shows every answer also when the posts of more than a hundred private chats are lost at once", async () => {
  const count = 110;
  const faults = Array.from({ length: count }, () => lose(false));
  const { repeated } = await afterLoss(bot(count), count, faults);
  expect(repeated, "repetitions without a mark").toBe(0);
});

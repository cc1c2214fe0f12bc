import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../support/fake-surface.ts";
import { ADDRESS, MARK } from "./engine-harness.ts";
import { createObjects } from "./objects-harness.ts";
import type { Objects, ObjectsOptions } from "./objects-harness.ts";

const TEXT = "One two three four five.";
const topic = (name: number) => ({
  ...ADDRESS,
  isDirectMessage: false,
  threadId: `telegram:7:${name}`,
  topicId: `${name}`,
});

/** As on Telegram. */
const LIMIT_MS = 6_000;
const LANDS_LATE_MS = 2_000;

/** Two topics of a forum, and the object of the chat itself, which is the gate of both and says nothing. */
function forum(more: Partial<ObjectsOptions> = {}): Objects {
  return createObjects({
    conversations: {
      north: { address: topic(1), gate: "chat" },
      south: { address: topic(2), gate: "chat" },
    },
    policy: { callTimeoutMs: LIMIT_MS },
    ...more,
    surface: { probing: "own-box", ...more.surface },
  });
}

const postsIn = ({ surface }: Objects, text: string): number[] =>
  surface.calls.filter((call) => call.method === "post" && call.text === text).map(({ at }) => at);

it("continues one topic's edits and holds its posts while another topic's post is in doubt", async () => {
  const objects = forum();
  const { advance, clock, speaking, surface } = objects;
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  south.delivery.open(south.start("s1"));
  south.delivery.append("s1", "Word ");
  await advance(2_000);
  expect(surface.visible("7")).toEqual(["Word"]);

  surface.fault("post", { kind: "hang" });
  const begunAt = clock.now();
  north.delivery.send(north.start("n1"), TEXT);
  await advance(100);
  let words = "Word";
  for (let second = 1; second <= 6; second += 1) {
    south.delivery.append("s1", `word${second} `);
    words += ` word${second}`;
    await advance(1_000);
    expect(surface.visible("7"), `after ${second} s`).toEqual([words]);
  }
  south.delivery.send(south.start("s2"), "A notice.");
  await advance(20_000);
  const [noticeAt = 0] = postsIn(objects, "A notice.");
  expect(noticeAt - begunAt).toBeGreaterThanOrEqual(LIMIT_MS + LANDS_LATE_MS);
  expect(surface.visible("7").toSorted()).toEqual(["A notice.", TEXT, words].toSorted());
});

it.each([
  ["made", true],
  ["not made", false],
])("holds the post of another topic at most until the lost post (%s) is searched", async (_name, done) => {
  const objects = forum();
  const { advance, clock, speaking, surface } = objects;
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  surface.fault("post", { kind: "lose", done });
  const begunAt = clock.now();
  north.delivery.send(north.start("n1"), TEXT);
  await advance(20);
  south.delivery.send(south.start("s1"), "South.");
  await advance(30_000);
  const [postedAt = Infinity] = postsIn(objects, "South.");
  // Found at once when it was made; otherwise two questions about the end of the box, and the wait of the other topic.
  const searchMs = 3_000;
  expect(postedAt - begunAt).toBeLessThanOrEqual(done ? 1_500 : LIMIT_MS + LANDS_LATE_MS + searchMs);
  expect(surface.visible("7").toSorted()).toEqual([TEXT, "South."].toSorted());
});

it("lets no topic wait for another topic's text", async () => {
  const { advance, speaking, surface } = forum();
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  // A turn that thinks for long, one that waits for its penalty-free slot, and one whose reply is whole.
  north.delivery.open(north.start("n1"));
  north.delivery.append("n1", "Let me think");
  await advance(1_000);
  south.delivery.send(south.start("s1"), "South.");
  await advance(1_000);
  expect(surface.visible("7")).toEqual(["Let me think", "South."]);
  surface.faultAlways("edit", { kind: "fail", failure: { kind: "transient", code: "server-500" } });
  north.delivery.finish("n1", "Let me think. Yes.");
  await advance(1_000);
  south.delivery.send(south.start("s2"), "South again.");
  await advance(2_000);
  expect(surface.visible("7")).toEqual(["Let me think", "South.", "South again."]);
});

it("makes one post of the chat at a time, and the next as soon as its outcome is known", async () => {
  const objects = forum({ surface: { latencyMs: 400 } });
  const { advance, speaking, surface } = objects;
  await advance(60_000);
  for (const name of ["north", "south"]) {
    const { delivery, start } = speaking(name);
    for (let notice = 0; notice < 3; notice += 1)
      delivery.send(start(`${name}${notice}`), `${name} ${notice}`);
  }
  const most: number[] = [];
  for (let waited = 0; waited < 10_000; waited += 50) {
    await advance(50);
    most.push(
      surface.calls.filter(({ method, outcome }) => method === "post" && outcome === "pending").length,
    );
  }
  expect(Math.max(...most)).toBe(1);
  expect(surface.visible("7")).toHaveLength(6);
  const times = surface.calls.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries()) {
    expect(at - (times[index] ?? 0), "no topic waits for long after the other").toBeLessThanOrEqual(
      400 + 800,
    );
  }
});

it("finds one topic's lost post beside another topic's later posts, also after a restart of the gate", async () => {
  for (const done of [true, false]) {
    const { advance, restart, speaking, surface } = forum();
    const [north, south] = [speaking("north"), speaking("south")];
    await advance(60_000);
    south.delivery.send(south.start("s0"), "Before.");
    await advance(2_000);
    surface.fault("post", { kind: "lose", done });
    north.delivery.send(north.start("n1"), TEXT);
    await advance(30);
    restart("chat");
    south.delivery.send(south.start("s1"), "South.");
    await advance(60_000);
    expect(surface.visible("7").toSorted()).toEqual(["Before.", TEXT, "South."].toSorted());
    expect(north.delivery.receipt("n1")).toMatchObject({ state: "delivered" });
  }
});

describe("when the object of a topic dies with the right to post", () => {
  it.each([
    ["made", true],
    ["not made", false],
  ])("finds its post (%s) after the start, and nobody posts before", async (_name, done) => {
    const objects = forum();
    const { advance, restart, speaking, surface } = objects;
    await advance(60_000);
    surface.fault("post", { kind: "lose", done });
    speaking("north").delivery.send(speaking("north").start("n1"), TEXT);
    await advance(40);
    expect(surface.calls.map(({ method }) => method)).toEqual(["post"]);
    restart("north");
    const south = speaking("south");
    south.delivery.send(south.start("s1"), "South.");
    await advance(60_000);
    expect(surface.visible("7").toSorted()).toEqual([TEXT, "South."].toSorted());
    expect(surface.visible("7").join()).not.toContain(MARK);
  });
});

describe("a lost post before which no message id of the chat was known", () => {
  it.each(
    ["chat", "north"].flatMap((speaker) =>
      [[], [speaker], ["chat"], ["chat", speaker]].flatMap((restarted) =>
        [20, 70, 800].map((afterMs) => [speaker, restarted, afterMs] as const),
      ),
    ),
  )("from %s is not taken for another topic's, after a restart of %j in %d ms", async (...plan) => {
    const [speaker, restarted, afterMs] = plan;
    const chat = { ...ADDRESS, isDirectMessage: false };
    const { advance, restart, speaking, surface } = createObjects({
      conversations: {
        chat: { address: chat, gate: "chat" },
        north: { address: topic(1), gate: "chat" },
        south: { address: topic(2), gate: "chat" },
      },
      policy: { callTimeoutMs: LIMIT_MS },
      surface: { probing: "own-box" },
    });
    await advance(60_000);
    surface.fault("post", { kind: "lose", done: true }, { kind: "lose", done: true });
    const { seenMessageId: _unknown, ...start } = speaking(speaker).start("n1");
    speaking(speaker).delivery.send(start, TEXT);
    await advance(afterMs);
    for (const name of restarted) restart(name);
    const south = speaking("south");
    south.delivery.send(south.start("s1"), "South.");
    await advance(120_000);
    const shown = surface.visible("7");
    expect(shown.filter((text) => text === "South.")).toHaveLength(1);
    // The process may have died before its post left.
    expect(shown.filter((text) => text === TEXT).length).toBeLessThanOrEqual(1);
    expect(new Set(shown.map((text) => text.replace(`${MARK}\n`, "")))).toEqual(new Set([TEXT, "South."]));
  });
});

it("does not take the lost post of a topic that refused the bot for another topic's", async () => {
  const { advance, speaking, surface } = forum();
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  surface.fault("post", { kind: "lose", done: true }, { kind: "lose", done: true });
  surface.fault("probe", { kind: "fail", failure: { kind: "gone", code: "blocked" } });
  north.delivery.send(north.start("n1"), TEXT);
  await advance(1_000);
  expect(north.delivery.receipt("n1")).toMatchObject({ state: "gone" });
  south.delivery.send(south.start("s1"), "South.");
  await advance(60_000);
  expect(surface.visible("7")).toEqual([TEXT, "South.", `${MARK}\nSouth.`]);
});

it("waits at most half a minute for a topic that is silent", async () => {
  const objects = forum();
  const { advance, clock, speaking, surface, setReachable } = objects;
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  surface.fault("post", { kind: "hang" });
  north.delivery.send(north.start("n1"), TEXT);
  await advance(50);
  // Nobody hears of it any more: the gate, as its other speakers reach it, goes on.
  setReachable("chat", false);
  await advance(20_000);
  setReachable("chat", true);
  const askedAt = clock.now();
  south.delivery.send(south.start("s1"), "South.");
  await advance(60_000);
  const [postedAt = Infinity] = postsIn(objects, "South.");
  expect(postedAt - askedAt).toBeLessThanOrEqual(30_000);
  expect(surface.visible("7").toSorted()).toEqual([TEXT, "South."].toSorted());
});

it("waits for the gate while it cannot be reached, and loses nothing", async () => {
  const { advance, speaking, surface, setReachable } = forum();
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  setReachable("chat", false);
  north.delivery.send(north.start("n1"), TEXT);
  south.delivery.send(south.start("s1"), "South.");
  await advance(60_000);
  expect(surface.calls).toEqual([]);
  setReachable("chat", true);
  await advance(20_000);
  expect(surface.visible("7").toSorted()).toEqual([TEXT, "South."].toSorted());
});

it("keeps the right of a running post for its whole time limit", async () => {
  const objects = forum({ policy: { callTimeoutMs: 60_000 } });
  const { advance, speaking, surface } = objects;
  const [north, south] = [speaking("north"), speaking("south")];
  await advance(60_000);
  surface.fault("post", { kind: "hang", answerAfterMs: 50_000 });
  north.delivery.send(north.start("n1"), TEXT);
  await advance(100);
  south.delivery.send(south.start("s1"), "South.");
  await advance(49_000);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(1);
  await advance(60_000);
  expect(surface.visible("7")).toEqual([TEXT, "South."]);
});

it("shows every text once and unmarked, whatever is lost in any topic, and whichever object restarts", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("north", "south") }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom("lose-made", "lose-unmade", "hang", "refuse") }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom("restart north", "restart south", "restart chat") }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(10, 60, 400, 3_000, 9_000) }) },
  );
  const FAULTS: Readonly<Record<string, Fault>> = {
    "lose-made": { kind: "lose", done: true },
    "lose-unmade": { kind: "lose", done: false },
    hang: { kind: "hang" },
    refuse: { kind: "fail", failure: { kind: "transient", code: "server-500" } },
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (plan) => {
      const { advance, restart, speaking, surface } = forum();
      await advance(60_000);
      const texts: string[] = [];
      for (const { kind } of plan) {
        if (typeof kind === "number") await advance(kind);
        else if (kind === "north" || kind === "south") {
          const { delivery, start } = speaking(kind);
          const text = `Text ${texts.length} of ${kind}.`;
          texts.push(text);
          delivery.send(start(`r${texts.length}`), text);
        } else if (kind.startsWith("restart ")) restart(kind.slice("restart ".length));
        else surface.fault("post", FAULTS[kind]);
      }
      await advance(15 * 60_000);
      expect(surface.visible("7").toSorted()).toEqual(texts.toSorted());
      for (const name of ["north", "south"]) {
        const own = texts.filter((text) => text.endsWith(`${name}.`));
        expect(surface.visible("7").filter((text) => text.endsWith(`${name}.`))).toEqual(own);
      }
    }),
    { numRuns: 150 },
  );
});

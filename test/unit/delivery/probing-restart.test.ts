import { expect, it } from "vitest";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import { ADDRESS, expectedMessages } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const GROUP = { ...ADDRESS, isDirectMessage: false };

it("asks about no id twice, however often the process is killed during a search", async () => {
  const world = createCrashWorld({ probing: true });
  world.platform.fault("post", { kind: "lose", done: false });
  const first = world.boot(0);
  first.delivery.send(startOf("r1", { address: GROUP }), TEXT);
  await first.advance(17_010);
  first.kill();
  let lives = 1;
  for (; lives < 30 && world.platform.visible("7").length === 0; lives += 1) {
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await process.advance(100);
    process.kill();
  }
  expect(lives).toBeGreaterThan(2);
  const asked = world.platform.calls
    .filter(({ method, outcome }) => method === "probe" && outcome !== "pending")
    .map(({ messageId }) => messageId);
  const each = [...new Set(asked)];
  expect(each.length).toBeGreaterThanOrEqual(2);
  expect(each).toEqual(each.map((_, index) => `${101 + index}`));
  // The look; and what was asked about at the moment of a death is asked about again, and no other.
  expect(asked.length).toBeLessThanOrEqual(1 + each.length + lives);
  const last = world.boot(0);
  void last.delivery.run().catch(ignoreCrash);
  await last.advance(60_000);
  expect(world.platform.visible("7")).toEqual([TEXT]);
});

it("posts nothing until an earlier process's post can no longer land", async () => {
  const world = createCrashWorld({ probing: true });
  world.platform.fault("post", { kind: "hang" });
  const begunAt = world.clock.now();
  const first = world.boot(0);
  first.delivery.send(startOf("r1", { policy: { callTimeoutMs: 6_000 } }), TEXT);
  await first.advance(1_000);
  first.kill();
  for (let life = 0; life < 6; life += 1) {
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await process.advance(1_000);
    process.kill();
  }
  const posts = () => world.platform.calls.filter(({ method }) => method === "post");
  expect(world.clock.now() - begunAt).toBe(7_000);
  expect(posts()).toHaveLength(1);
  const late = world.platform.postForeign("7", TEXT);
  const last = world.boot(0);
  void last.delivery.run().catch(ignoreCrash);
  await last.advance(60_000);
  expect(world.platform.visible("7")).toEqual([TEXT]);
  expect(last.delivery.receipt("r1")).toMatchObject({ messages: [{ messageId: late, attempts: 1 }] });
});

it("waits for nothing when the machine was off for longer than a post may land", async () => {
  const world = createCrashWorld({ probing: true });
  world.platform.fault("post", { kind: "lose", done: false });
  const first = world.boot(0);
  first.delivery.send(startOf("r1"), TEXT);
  await first.advance(100);
  first.kill();
  await world.clock.advance(24 * 3_600_000);
  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  await second.advance(2_000);
  expect(world.platform.visible("7")).toEqual([TEXT]);
});

it("continues right after a start if the likeliest id is the lost message", async () => {
  const calm = createCrashWorld({ probing: true });
  const calmProcess = calm.boot(0);
  calmProcess.delivery.send(startOf("r1"), TEXT);
  await calmProcess.advance(1_000);
  const afterPost = calm.boundaries().indexOf("after post") + 1;

  const world = createCrashWorld({ probing: true });
  const first = world.boot(afterPost);
  first.delivery.send(startOf("r1"), TEXT);
  await first.advance(1_000);
  expect(first.isDead()).toBe(true);
  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  await second.advance(200);
  expect(second.delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
  expect(world.platform.visible("7")).toEqual([TEXT]);
});

it("never mistakes its own message for the lost one after a start, even if the gate does not know it", async () => {
  const world = createCrashWorld({ probing: true });
  const start = startOf("r1", { address: GROUP });
  const first = world.boot(0);
  first.delivery.send(startOf("n0", { address: GROUP }), "Before.");
  await first.advance(1_000);
  world.platform.fault("post", { kind: "lose", done: false });
  first.delivery.open(start);
  first.delivery.append("r1", TEXT);
  await first.advance(1_900);
  first.delivery.send(startOf("n1", { address: GROUP }), "A notice.");
  await first.advance(500);
  expect(world.platform.visible("7"), "the notice waits").toEqual(["Before."]);
  first.kill();

  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  second.delivery.open(start);
  second.delivery.finish("r1", TEXT);
  await second.advance(60_000);
  expect(world.platform.visible("7").toSorted()).toEqual(["A notice.", "Before.", TEXT]);
  expect(world.platform.visible("7")[0]).toBe("Before.");
});

it("repeats no text at a start while only a search is open", async () => {
  const limits = { maxLength: 60, maxEntities: 100 };
  const world = createCrashWorld({ probing: true, limits });
  const text = "One two three four five six seven.\n\nEight nine ten eleven twelve thirteen.";
  const parts = expectedMessages(text, limits);
  world.platform.fault("post", undefined, { kind: "lose", done: false });
  const start = startOf("r1", { policy: { editEveryMs: 100, callTimeoutMs: 15_000 } });
  const first = world.boot(0);
  first.delivery.send(start, text);
  await first.advance(1_000);
  first.kill();
  let lives = 0;
  for (; world.boot(0).delivery.receipt("r1")?.state !== "delivered"; lives += 1) {
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await process.advance(1_500);
    process.kill();
    if (lives > 100) throw new Error("It does not come to an end.");
  }
  expect(lives).toBeGreaterThan(8);
  expect(world.platform.visible("7")).toEqual(parts);
  const calls = world.platform.calls.map(({ method }) => method);
  expect(calls.filter((method) => method === "edit").length).toBeLessThanOrEqual(1);
  expect(calls.filter((method) => method === "post")).toHaveLength(parts.length + 1);
});

it("continues even if the object is evicted before each call, because the chat's calls are far apart", async () => {
  const limits = { maxLength: 120, maxEntities: 100 };
  const rate = { burst: 1, everyMs: 18_000 };
  const world = createCrashWorld({ limits, pacing: { direct: rate, group: rate, global: rate } });
  const text = Array.from({ length: 4 }, (_, part) => `Part ${part} has some words. `.repeat(3).trim()).join(
    "\n\n",
  );
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  first.delivery.append("r1", "Part");
  await first.advance(20_000);
  first.delivery.finish("r1", text);
  for (let rests = 0, process = first; rests < 12; rests += 1) {
    await process.advance(10_000);
    process.kill();
    process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
  }
  expect(world.platform.visible("7").join("\n\n")).toBe(text);
});

it.each([
  ["the same process", false],
  ["a process that died then", true],
])(
  "takes a message that was given up in another topic by %s for none of its own (I6)",
  async (_who, dies) => {
    const topic = (topicId: string) => ({ ...GROUP, threadId: `telegram:7:${topicId}`, topicId });
    const policy = { onUnknown: "leave" } as const;
    const begin = async (crashAt: number) => {
      const world = createCrashWorld({ probing: true });
      const first = world.boot(crashAt);
      // Nothing is known of the chat, so nobody can search for this post once its process has died.
      first.delivery.send({ id: "r1", address: topic("1"), policy }, "The first one.");
      await first.advance(1_000);
      return world;
    };
    const whole = await begin(0);
    const world = await begin(whole.boundaries().indexOf("after post") + 1);
    expect(world.platform.visible("7")).toEqual(["The first one."]);
    let life = world.boot(0);
    void life.delivery.run().catch(ignoreCrash);
    await life.advance(dies ? 0 : 15_000);
    expect(life.delivery.receipt("r1")?.state).toBe("failed");
    if (dies) {
      life.kill();
      life = world.boot(0);
      void life.delivery.run().catch(ignoreCrash);
      await life.advance(15_000);
    }
    world.platform.fault("post", { kind: "lose", done: true });
    life.delivery.send({ id: "r2", address: topic("2"), policy, seenMessageId: "100" }, "The second one.");
    await life.advance(120_000);
    expect(world.platform.visible("7")).toEqual(["The first one.", "The second one."]);
    expect(life.delivery.receipt("r2")?.messages).not.toMatchObject([{ messageId: "101" }]);
  },
);

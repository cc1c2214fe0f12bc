import { expect, it } from "vitest";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import { ADDRESS } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const GROUP = { ...ADDRESS, isDirectMessage: false };

it("asks about no id twice when the process is killed again and again while it searches", async () => {
  const world = createCrashWorld({ probing: true });
  world.platform.fault("post", { kind: "lose", done: false });
  const first = world.boot(0);
  first.delivery.send(startOf("r1", { address: GROUP }), TEXT);
  await first.advance(2_100);
  first.kill();
  let lives = 1;
  for (; lives < 20 && world.platform.visible("7").length === 0; lives += 1) {
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await process.advance(100);
    process.kill();
  }
  expect(lives).toBeGreaterThan(2);
  const asked = world.platform.calls
    .filter(({ method, outcome }) => method === "probe" && outcome !== "pending")
    .map(({ messageId }) => messageId);
  expect([...new Set(asked)]).toEqual(["101", "102", "103", "104"]);
  // One that was asked about at the moment of a death is asked about again, and no other.
  expect(asked.length).toBeLessThanOrEqual(1 + 4 + lives);
  const last = world.boot(0);
  void last.delivery.run().catch(ignoreCrash);
  await last.advance(60_000);
  expect(world.platform.visible("7")).toEqual([TEXT]);
});

it("goes on right after a start when the message is where it is looked for first", async () => {
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

it("does not take for the lost message what it has itself posted since the search began", async () => {
  const world = createCrashWorld({ probing: true });
  const start = startOf("r1", { address: GROUP });
  const first = world.boot(0);
  world.platform.fault("post", { kind: "lose", done: false });
  first.delivery.open(start);
  first.delivery.append("r1", TEXT);
  await first.advance(1_900);
  world.platform.fault("probe", { kind: "fail", failure: { kind: "transient", code: "server-500" } });
  first.delivery.send(startOf("n1", { address: GROUP }), "A notice.");
  await first.advance(500);
  expect(world.platform.visible("7")).toEqual(["A notice."]);
  expect(world.database.all("SELECT inquiry FROM outbox_v1 WHERE reply_id = 'r1'")).toEqual([
    { inquiry: expect.stringContaining('"ids":[101,') as string },
  ]);
  first.kill();

  const second = world.boot(0);
  void second.delivery.run().catch(ignoreCrash);
  second.delivery.open(start);
  second.delivery.finish("r1", TEXT);
  await second.advance(60_000);
  expect(world.platform.visible("7")).toEqual(["A notice.", TEXT]);
});

it("says nothing again at each start while only a question is open", async () => {
  const world = createCrashWorld({ probing: true });
  world.platform.fault("post", { kind: "lose", done: false });
  world.platform.fault("post", { kind: "lose", done: true });
  const start = startOf("r1", { policy: { editEveryMs: 100, callTimeoutMs: 15_000 } });
  const first = world.boot(0);
  first.delivery.send(start, TEXT);
  await first.advance(2_800);
  first.kill();
  let lives = 0;
  for (; world.boot(0).delivery.receipt("r1")?.state !== "delivered"; lives += 1) {
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await process.advance(1_500);
    process.kill();
  }
  // The second post was found; whether the first lands after all is asked when its time limit is over.
  expect(lives).toBeGreaterThan(8);
  expect(world.platform.visible("7")).toEqual([TEXT]);
  const edits = world.platform.calls.filter(({ method }) => method === "edit");
  expect(edits.length).toBeLessThanOrEqual(1);
});

it("goes on when the object is put to rest before each call, because the chat has one in a long while", async () => {
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

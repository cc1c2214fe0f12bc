import { expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { expectedMessages, MARK } from "./engine-harness.ts";

const LIMITS = { maxLength: 300, maxEntities: 100 };
const SENTENCE = "The lamp went out at nine and nobody noticed it. ";
const TEXT = Array.from({ length: 9 }, (_, index) => `Paragraph ${index}: ${SENTENCE}\n\n`).join("");
const SURFACES = {
  edit: {},
  draft: { draftLastsMs: 30_000 },
  native: { streams: true },
  buffered: { capabilities: { edit: false, remove: false } },
  "final-only": {},
} as const;

/** The turn streams its text, and the next process restarts it if it had not ended. */
async function turn(process: CrashProcess, mode: DeliveryMode): Promise<void> {
  const { delivery, advance, isDead } = process;
  const state = delivery.receipt("r1")?.state;
  if (state !== undefined && state !== "streaming") return;
  delivery.open(startOf("r1", { policy: { editEveryMs: 100, mode } }));
  delivery.replace("r1", "");
  for (let at = 0; at < TEXT.length && !isDead(); at += 60) {
    delivery.append("r1", TEXT.slice(at, at + 60));
    await advance(120);
  }
  if (!isDead()) delivery.finish("r1", TEXT);
}

async function live(
  mode: DeliveryMode,
  crashes: readonly number[],
): Promise<CrashWorld & { state: unknown }> {
  const world = createCrashWorld({ limits: LIMITS, ...SURFACES[mode] });
  let state: unknown;
  for (const crashAt of [...crashes, 0]) {
    try {
      const process = world.boot(crashAt);
      void process.delivery.run().catch(ignoreCrash);
      await turn(process, mode);
      await process.advance(60_000);
      state = process.delivery.receipt("r1")?.state;
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return { ...world, state };
}

/**
 * Every part once and in order. A post whose answer was lost may have left a beginning of its part right before the
 * marked message. Returns how many parts are marked.
 */
function expectWhole(world: CrashWorld): number {
  const rest = [...world.platform.visible("7")];
  let marked = 0;
  for (const part of expectedMessages(TEXT, LIMITS)) {
    const withMark = `${MARK}\n${part}`;
    if (rest[1] === withMark) expect(part.startsWith(rest.shift() ?? "-")).toBe(true);
    if (rest[0] === withMark) marked += 1;
    else expect(rest[0]).toBe(part);
    rest.shift();
  }
  expect(rest).toEqual([]);
  return marked;
}

it.each(["edit", "draft", "native", "buffered", "final-only"] as const)(
  "ends whole when the process dies once, at any boundary, in the mode %s",
  async (mode) => {
    const calm = await live(mode, []);
    expect(expectWhole(calm)).toBe(0);
    expect(calm.state).toBe("delivered");
    for (const crashAt of calm.deaths()) {
      const world = await live(mode, [crashAt]);
      expect(world.state).toBe("delivered");
      const marked = expectWhole(world);
      expect(marked).toBeLessThanOrEqual(1);
      // A message whose answer was lost is nobody's to end.
      const open = world.platform.messages("7").filter(({ isStreaming }) => isStreaming === true);
      expect(open.length).toBeLessThanOrEqual(marked);
    }
  },
);

it("leaves nothing to repair when the process dies while only a draft is visible", async () => {
  const world = createCrashWorld({ draftLastsMs: 30_000 });
  const first = world.boot(0);
  first.delivery.open(startOf("r1", { policy: { mode: "draft" } }));
  first.delivery.append("r1", "The lamp went out at");
  await first.advance(500);
  expect(world.platform.draft("7")).toBe("The lamp went out at");
  first.kill();
  expect(world.database.all("SELECT * FROM outbox_v1")).toEqual([]);
  const second = world.boot(0);
  void second.delivery.run();
  second.delivery.append("r1", "The lamp went out at nine");
  await second.advance(500);
  expect(world.platform.draft("7")).toBe("The lamp went out at nine");
  second.delivery.finish("r1", "The lamp went out at nine.");
  await second.advance(500);
  expect(world.platform.visible("7")).toEqual(["The lamp went out at nine."]);
});

it("knows after a start the posted text of messages that cannot be changed, until the reply ends", async () => {
  const world = createCrashWorld({ limits: LIMITS, ...SURFACES.buffered });
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  expect(first.delivery.postedText("r1")).toBe("");
  first.delivery.append("r1", TEXT);
  await first.advance(500);
  const [shown] = world.platform.visible("7");
  expect(expectedMessages(TEXT, LIMITS)[0]).toBe(shown);
  first.kill();

  const second = world.boot(0);
  void second.delivery.run();
  await second.advance(500);
  expect(second.delivery.postedText("r1")).toBe(TEXT);
  second.delivery.finish("r1", TEXT);
  await second.advance(60_000);
  expect(world.platform.visible("7")).toEqual(expectedMessages(TEXT, LIMITS));
  expect(second.delivery.postedText("r1")).toBe("");
  expect(world.database.all("SELECT text FROM reply_v1")).toEqual([{ text: null }]);
});

it("stores no text of a reply whose messages can be changed before it is whole", async () => {
  const world = createCrashWorld({ limits: LIMITS });
  const first = world.boot(0);
  first.delivery.open(startOf("r1"));
  first.delivery.append("r1", TEXT);
  await first.advance(500);
  expect(world.platform.visible("7").length).toBeGreaterThan(0);
  expect(first.delivery.postedText("r1")).toBe("");
  expect(world.database.all("SELECT text FROM reply_v1")).toEqual([{ text: null }]);
});

import { describe, expect, it } from "vitest";
import type { ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createCrashWorld, startOf } from "./crash-world.ts";
import { createHarness, expectedMessages } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const LONG = "The first attempt has come this far, and people have read it. ".repeat(4).trim();
const OTHER = "Another attempt says the same in other words, and takes its time for it. ".repeat(6).trim();
const POLICY = { editEveryMs: 100 };

/** A reply of which an attempt was shown and cut short. */
async function interrupted(
  policy: ReplyPolicy = {},
  surface: Partial<FakeSurfaceOptions> = {},
  said = LONG,
): Promise<Harness> {
  const harness = createHarness({ policy: { ...POLICY, ...policy }, surface });
  harness.delivery.open(harness.start("r1"));
  harness.delivery.append("r1", said);
  await harness.advance(5_000);
  harness.delivery.interrupt("r1");
  return harness;
}

const edits = ({ surface }: Harness): number =>
  surface.calls.filter(({ method }) => method === "edit").length;

describe("a reply whose model call was cut short", () => {
  it("shows the text until the new one is as long (I5)", async () => {
    const harness = await interrupted();
    const { advance, delivery, visible } = harness;
    const before = edits(harness);
    delivery.replace("r1", OTHER.slice(0, 20));
    for (let length = 20; length < LONG.length - 1; length += 20) {
      await advance(1_000);
      expect(visible()).toEqual([LONG]);
      delivery.append("r1", OTHER.slice(length, Math.min(length + 20, LONG.length - 1)));
    }
    await advance(1_000);
    expect(visible()).toEqual([LONG]);
    expect(edits(harness)).toBe(before);
    delivery.append("r1", OTHER.slice(LONG.length - 1, LONG.length));
    await advance(1_000);
    expect(visible()).toEqual([OTHER.slice(0, LONG.length).trim()]);
    delivery.finish("r1", OTHER);
    await advance(5_000);
    expect(visible()).toEqual([OTHER]);
  });

  it("is replaced by a shorter text that is whole", async () => {
    const { advance, delivery, visible } = await interrupted();
    delivery.replace("r1", "Short, and");
    await advance(1_000);
    expect(visible()).toEqual([LONG]);
    delivery.finish("r1", "Short, and whole.");
    await advance(1_000);
    expect(visible()).toEqual(["Short, and whole."]);
  });

  it("shows all of the earlier text, including the part that was not visible yet", async () => {
    const harness = createHarness({ policy: { editEveryMs: 60_000 } });
    harness.delivery.open(harness.start("r1"));
    harness.delivery.append("r1", LONG.slice(0, 80));
    await harness.advance(1_000);
    harness.delivery.append("r1", LONG.slice(80));
    harness.delivery.interrupt("r1");
    harness.delivery.replace("r1", "Another");
    await harness.advance(90_000);
    expect(harness.visible()).toEqual([LONG]);
  });

  it("keeps all of its messages, and takes the surplus ones away when the shorter text is whole", async () => {
    const limits = { maxLength: 200, maxEntities: 100 };
    const { advance, delivery, visible } = await interrupted({}, { limits });
    const parts = visible();
    expect(parts.length).toBeGreaterThan(1);
    delivery.replace("r1", OTHER.slice(0, 60));
    await advance(5_000);
    expect(visible()).toEqual(parts);
    delivery.append("r1", OTHER.slice(60));
    await advance(5_000);
    delivery.finish("r1", OTHER);
    await advance(10_000);
    expect(visible()).toEqual(expectedMessages(OTHER, limits));
    const again = await interrupted({}, { limits });
    again.delivery.finish("r1", "Short.");
    await again.advance(5_000);
    expect(again.visible()).toEqual(["Short."]);
  });

  it("is interrupted again without losing what people read", async () => {
    const { advance, delivery, visible } = await interrupted();
    for (const text of [OTHER.slice(0, 100), OTHER.slice(0, 40)]) {
      delivery.replace("r1", text);
      await advance(1_000);
      delivery.interrupt("r1");
      await advance(1_000);
      expect(visible()).toEqual([LONG]);
    }
    delivery.replace("r1", OTHER.slice(0, 300));
    await advance(1_000);
    delivery.interrupt("r1");
    delivery.replace("r1", LONG);
    await advance(1_000);
    expect(visible()).toEqual([OTHER.slice(0, 300).trim()]);
  });

  it("keeps the visible text when it is stopped", async () => {
    const { advance, delivery } = await interrupted();
    delivery.replace("r1", "Short");
    await advance(1_000);
    expect(delivery.seenText("r1")).toBe(LONG);
    delivery.replace("r1", OTHER);
    await advance(1_000);
    expect(delivery.seenText("r1")).toBe(OTHER);
  });

  it("removes at once what a filter removes", async () => {
    const { advance, delivery, visible } = await interrupted();
    delivery.replace("r1", OTHER);
    await advance(1_000);
    delivery.replace("r1", OTHER.slice(0, 60));
    await advance(1_000);
    expect(visible()).toEqual([OTHER.slice(0, 60).trim()]);
  });

  it("is taken over by a later reply, as without an interruption", async () => {
    const { advance, delivery, start, visible } = await interrupted();
    delivery.withdraw("r1");
    delivery.open(start("r2", { takesOver: "r1" }));
    await advance(1_000);
    expect(visible()).toEqual([LONG]);
    delivery.append("r2", "The new reply.");
    await advance(1_000);
    expect(visible()).toEqual(["The new reply."]);
  });

  it("continues with its draft", async () => {
    const { advance, delivery, surface } = await interrupted({ mode: "draft" }, { draftLastsMs: 30_000 });
    delivery.replace("r1", "Short");
    await advance(2_000);
    expect(surface.draft("7")).toBe(LONG);
    expect(delivery.seenText("r1")).toBe(LONG);
    delivery.replace("r1", OTHER);
    await advance(2_000);
    expect(surface.draft("7")).toBe(OTHER);
  });

  it.each(["buffered", "final-only"] as const)("shows no more than its mode does: %s", async (mode) => {
    const { advance, delivery, visible } = await interrupted({ mode });
    delivery.replace("r1", "Short");
    await advance(2_000);
    expect(visible()).toEqual([]);
    delivery.finish("r1", "Short, and whole.");
    await advance(2_000);
    expect(visible()).toEqual(["Short, and whole."]);
  });

  it("continues with new messages if none can be changed", async () => {
    const limits = { maxLength: 120, maxEntities: 100 };
    const capabilities = { edit: false, remove: false };
    const said = LONG.replaceAll(". ", ".\n\n");
    const { advance, delivery, visible } = await interrupted({}, { limits, capabilities }, said);
    const posted = visible();
    expect(posted.length).toBeGreaterThan(0);
    expect(delivery.postedText("r1")).toBe(said);
    delivery.replace("r1", "Short");
    delivery.finish("r1", "Short, and whole.");
    await advance(5_000);
    expect(visible().slice(0, posted.length)).toEqual(posted);
    expect(visible().at(-1)).toBe("Short, and whole.");
  });

  it("keeps nothing before it has any text", async () => {
    const { advance, delivery, start, visible } = createHarness({ policy: POLICY });
    delivery.open(start("r1"));
    delivery.interrupt("r1");
    delivery.append("r1", "The first words.");
    await advance(1_000);
    expect(visible()).toEqual(["The first words."]);
  });
});

describe("a reply whose process dies after an interruption", () => {
  async function restarted() {
    const world = createCrashWorld({});
    const process = world.boot(0);
    process.delivery.open(startOf("r1", { policy: POLICY }));
    process.delivery.append("r1", LONG);
    await process.advance(2_000);
    process.delivery.interrupt("r1");
    process.delivery.replace("r1", OTHER.slice(0, 60));
    await process.advance(2_000);
    const next = world.boot(0);
    const visible = (): string[] => world.platform.visible("7") as string[];
    return { next, visible };
  }

  it("still shows the text until the new one is as long, or whole", async () => {
    const { next, visible } = await restarted();
    // What is stored of the second attempt is said again, and that was interrupted, too.
    next.delivery.replace("r1", OTHER.slice(0, 40));
    void next.delivery.run();
    await next.advance(2_000);
    next.delivery.interrupt("r1");
    next.delivery.replace("r1", "A third one");
    await next.advance(2_000);
    expect(visible()).toEqual([LONG]);
    expect(next.delivery.seenText("r1")).toBe(LONG);
    expect(next.delivery.postedText("r1")).toBe("");
    next.delivery.replace("r1", OTHER.slice(0, LONG.length));
    await next.advance(2_000);
    expect(visible()).toEqual([OTHER.slice(0, LONG.length).trim()]);
    next.delivery.finish("r1", "A third one.");
    await next.advance(2_000);
    expect(visible()).toEqual(["A third one."]);
  });

  it("keeps the visible text when it is stopped at once", async () => {
    const world = createCrashWorld({});
    const process = world.boot(0);
    process.delivery.open(startOf("r1", { policy: POLICY }));
    process.delivery.append("r1", LONG);
    await process.advance(2_000);
    const next = world.boot(0);
    next.delivery.append("r1", LONG);
    next.delivery.interrupt("r1");
    next.delivery.replace("r1", "Short");
    expect(next.delivery.seenText("r1")).toBe(LONG);
  });

  it("does not show the old text again after the new one became longer", async () => {
    const world = createCrashWorld({});
    const process = world.boot(0);
    process.delivery.open(startOf("r1", { policy: POLICY }));
    process.delivery.append("r1", LONG);
    process.delivery.interrupt("r1");
    process.delivery.replace("r1", OTHER);
    await process.advance(2_000);
    const next = world.boot(0);
    next.delivery.replace("r1", OTHER);
    void next.delivery.run();
    await next.advance(2_000);
    expect(world.platform.visible("7")).toEqual([OTHER]);
    expect(world.platform.calls.filter(({ text }) => text === LONG)).toEqual([]);
  });
});

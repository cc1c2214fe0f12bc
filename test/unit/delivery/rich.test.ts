import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText } from "../../../delivery/text/split/index.ts";
import { richBlocks } from "../../../delivery/text/render/index.ts";
import type { ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { FakeMessage, FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { createHarness, expectedMessages, MARK } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const RICH = { maxLength: 2_000, maxEntities: 500 };
const LIMITS = { maxLength: 300, maxEntities: 100 };
const TEXT = `# Report

${Array.from({ length: 12 }, (_, index) => `Paragraph ${index} says **something** of its own.`).join("\n\n")}

| n | square |
|--:|--------|
${Array.from({ length: 12 }, (_, index) => `| ${index} | ${index * index} |`).join("\n")}

- one
  - two
- [x] three

The end.`;
const UNSUPPORTED = "rich-unsupported";
const REFUSED = "rich-refused";

function harnessOf(policy: ReplyPolicy = {}, surface: Partial<FakeSurfaceOptions> = {}): Harness {
  return createHarness({
    policy: { richMessages: true, ...policy },
    surface: { limits: LIMITS, rich: RICH, ...surface },
  });
}

async function stream({ delivery, advance }: Harness, id: string, text = TEXT): Promise<void> {
  for (let at = 0; at < text.length; at += 40) {
    delivery.append(id, text.slice(at, at + 40));
    await advance(300);
  }
}

async function answer(harness: Harness, id: string, text = TEXT): Promise<void> {
  const { delivery, advance, start } = harness;
  delivery.open(start(id));
  await stream(harness, id, text);
  delivery.finish(id, text);
  await advance(10_000);
}

const messagesOf = ({ surface }: Harness): readonly FakeMessage[] => surface.messages("7");
const richCalls = ({ surface }: Harness): number =>
  surface.calls.filter((call) => call.isRich === true).length;
const linesOf = ({ lines }: Harness, event: string): number =>
  lines.filter((line) => line.includes(`"${event}"`)).length;

function richOf(text: string): unknown[] {
  const options = { renderer: richBlocks, limits: { maxLength: 1_900, maxEntities: 499 }, final: true };
  return splitText(text, options).map(({ content }) => content.blocks);
}

const ordinaryOf = (text: string): string[] => expectedMessages(text, LIMITS);

describe("replies as rich messages", () => {
  it("are one growing message with tables and lists, where ordinary text needs several", async () => {
    const harness = harnessOf();
    await answer(harness, "r1");
    expect(ordinaryOf(TEXT).length).toBeGreaterThan(2);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
    expect(messagesOf(harness).length).toBe(1);
    expect(harness.surface.calls.filter(({ method }) => method === "edit").length).toBeGreaterThan(3);
    expect(harness.delivery.receipt("r1")?.state).toBe("delivered");
    expect(harness.delivery.nextWakeAt()).toBeUndefined();
  });

  it("are several messages if one rich message is too small", async () => {
    const harness = harnessOf();
    const text = `${TEXT}\n\n`.repeat(6).trim();
    await answer(harness, "r1", text);
    expect(messagesOf(harness).length).toBeGreaterThan(1);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(
      splitText(text, {
        renderer: richBlocks,
        limits: { maxLength: RICH.maxLength - MARK.length - 1, maxEntities: 499 },
        final: true,
      }).map(({ content }) => content.blocks),
    );
  });

  it.each<[string, ReplyPolicy, Partial<FakeSurfaceOptions>]>([
    ["they are not asked for", { richMessages: undefined }, {}],
    ["they are switched off", { richMessages: false }, {}],
    ["the platform has none", {}, { rich: undefined }],
    ["the platform streams text by itself", { mode: "native" }, { streams: true }],
  ])("are ordinary messages when %s", async (_name, policy, surface) => {
    const harness = harnessOf(policy, surface);
    await answer(harness, "r1");
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(richCalls(harness)).toBe(0);
  });

  it("are shown as drafts while they grow, and posted when they are whole", async () => {
    const harness = harnessOf({ mode: "draft" }, { draftLastsMs: 30_000 });
    await answer(harness, "r1");
    const drafts = harness.surface.calls.filter(({ method }) => method === "draft");
    expect(drafts.length).toBeGreaterThan(3);
    expect(drafts.every(({ isRich, outcome }) => isRich === true && outcome === "done")).toBe(true);
    expect(harness.surface.calls.filter(({ method }) => method === "edit")).toEqual([]);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
  });

  it.each(["buffered", "final-only"] as const)("are posted once, whole, in the mode %s", async (mode) => {
    const harness = harnessOf({ mode });
    await answer(harness, "r1");
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
    expect(harness.surface.calls.filter(({ method }) => method === "edit")).toEqual([]);
  });

  it("begin with the mark in a block of its own when they are sent again", async () => {
    const harness = harnessOf();
    harness.surface.fault("post", { kind: "lose", done: false });
    harness.delivery.send(harness.start("r1"), TEXT);
    await harness.advance(60_000);
    const [message, ...others] = messagesOf(harness);
    expect(others).toEqual([]);
    expect(message?.blocks?.[0]).toEqual({ type: "paragraph", text: [MARK] });
    expect(message?.blocks?.slice(1)).toEqual(richOf(TEXT)[0]);
  });

  it.each(["edit", "draft"] as const)(
    "are made of an ordinary message in its place as soon as they show more (%s)",
    async (mode) => {
      const harness = harnessOf({ mode }, { draftLastsMs: 30_000 });
      const { delivery, advance, start, surface } = harness;
      delivery.open(start("r1"));
      delivery.append("r1", "Here is **what** you need.\n\n");
      await advance(3_000);
      expect(surface.draft("7") ?? harness.visible()[0]).toBe("Here is what you need.");
      expect(richCalls(harness)).toBe(0);
      delivery.append("r1", "- one\n- two\n");
      await advance(3_000);
      expect(richCalls(harness)).toBeGreaterThan(0);
      delivery.finish("r1", "Here is **what** you need.\n\n- one\n- two\n- three");
      await advance(3_000);
      expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(
        richOf("Here is **what** you need.\n\n- one\n- two\n- three"),
      );
    },
  );

  it("are ordinary messages if those show everything", async () => {
    const harness = harnessOf();
    await answer(harness, "r1", "Yes, **that** is so.");
    expect(harness.visible()).toEqual(["Yes, that is so."]);
    expect(richCalls(harness)).toBe(0);
  });

  it("are found again when the answer to their post is lost", async () => {
    const harness = harnessOf({}, { probing: true });
    harness.surface.fault("post", { kind: "lose", done: true });
    harness.delivery.send(harness.start("r1", { seenMessageId: "100" }), TEXT);
    await harness.advance(60_000);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
    expect(harness.surface.calls.filter(({ method }) => method === "post").length).toBe(1);
  });

  it("take over the message of a withdrawn reply", async () => {
    const harness = harnessOf();
    const { delivery, advance, start } = harness;
    delivery.open(start("r1"));
    await stream(harness, "r1", TEXT.slice(0, 200));
    delivery.withdraw("r1");
    delivery.open(start("r2", { takesOver: "r1" }));
    await stream(harness, "r2");
    delivery.finish("r2", TEXT);
    await advance(10_000);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
  });
});

describe("rich messages that are refused", () => {
  it("become ordinary ones at the first call, and later replies are ordinary for six hours", async () => {
    const harness = harnessOf();
    const { surface, advance } = harness;
    surface.refuseRich(UNSUPPORTED);
    await answer(harness, "r1");
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(richCalls(harness)).toBe(1);
    await answer(harness, "r2");
    await answer(harness, "r3");
    expect(harness.visible()).toEqual([...ordinaryOf(TEXT), ...ordinaryOf(TEXT), ...ordinaryOf(TEXT)]);
    expect(richCalls(harness)).toBe(1);
    expect(linesOf(harness, "delivery.rich-unsupported")).toBe(1);
    expect(linesOf(harness, "delivery.call-failed")).toBe(0);
    surface.refuseRich(undefined);
    await advance(6 * 60 * 60 * 1000);
    await answer(harness, "r4");
    expect(messagesOf(harness).at(-1)?.blocks).toEqual(richOf(TEXT)[0]);
  });

  it("show the first text within a moment after the refusal", async () => {
    const harness = harnessOf();
    harness.surface.refuseRich(UNSUPPORTED);
    harness.delivery.open(harness.start("r1"));
    harness.delivery.append("r1", "The first words of it. ");
    await harness.advance(1_000);
    expect(harness.visible()).toEqual(["The first words of it."]);
  });

  it("become ordinary ones for this reply only, if its content is refused", async () => {
    const harness = harnessOf();
    harness.surface.refuseRich(REFUSED);
    await answer(harness, "r1");
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(richCalls(harness)).toBe(1);
    expect(linesOf(harness, "delivery.rich-refused")).toBe(1);
    harness.surface.refuseRich(undefined);
    await answer(harness, "r2");
    expect(messagesOf(harness).at(-1)?.blocks).toEqual(richOf(TEXT)[0]);
  });

  it.each([UNSUPPORTED, REFUSED])(
    "go on in the same message and in further ones when an edit is refused in mid-stream (%s)",
    async (code) => {
      const harness = harnessOf();
      const { delivery, surface, advance, start } = harness;
      delivery.open(start("r1"));
      await stream(harness, "r1", TEXT.slice(0, 480));
      const [first] = messagesOf(harness);
      expect(first?.blocks).toBeDefined();
      surface.refuseRich(code);
      await stream(harness, "r1", TEXT.slice(480));
      delivery.finish("r1", TEXT);
      await advance(10_000);
      expect(harness.visible()).toEqual(ordinaryOf(TEXT));
      expect(messagesOf(harness)[0]?.id).toBe(first?.id);
      expect(messagesOf(harness).every(({ blocks }) => blocks === undefined)).toBe(true);
    },
  );

  it("are shown whole if only the last edit is refused", async () => {
    const harness = harnessOf();
    const { delivery, surface, advance, start } = harness;
    delivery.open(start("r1"));
    await stream(harness, "r1", TEXT.slice(0, -20));
    surface.refuseRich(REFUSED);
    delivery.finish("r1", TEXT);
    await advance(10_000);
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
  });

  it("continue as ordinary drafts", async () => {
    const harness = harnessOf({ mode: "draft" }, { draftLastsMs: 30_000 });
    harness.surface.refuseRich(UNSUPPORTED);
    await answer(harness, "r1");
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(richCalls(harness)).toBe(1);
    const drafts = harness.surface.calls.filter(
      ({ method, outcome }) => method === "draft" && outcome === "done",
    );
    expect(drafts.length).toBeGreaterThan(3);
    expect(harness.surface.calls.filter(({ method }) => method === "edit")).toEqual([]);
  });

  it("stay rich if only the draft is refused", async () => {
    const harness = harnessOf({ mode: "draft" }, { draftLastsMs: 30_000 });
    harness.surface.fault("draft", { kind: "fail", failure: { kind: "rejected", code: "no-drafts-here" } });
    await answer(harness, "r1");
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
    expect(harness.surface.calls.filter(({ method }) => method === "draft").length).toBe(1);
  });

  /** A proxy answers what it does not know with an error page of its own. */
  const doubtful = { kind: "fail", failure: { kind: "unknown", code: "rich-doubtful" } } as const;

  it("become ordinary ones after two unreadable answers, also the next replies for an hour", async () => {
    const harness = harnessOf({ callTimeoutMs: 1_000 }, { probing: true });
    const { surface, delivery, advance, start } = harness;
    surface.faultAlways("post", doubtful, ({ isRich }) => isRich === true);
    delivery.send(start("r1", { seenMessageId: "100" }), TEXT);
    await advance(30_000);
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(surface.calls.filter(({ method, isRich }) => method === "post" && isRich).length).toBe(2);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
    expect(linesOf(harness, "delivery.rich-unsupported")).toBe(1);
    delivery.send(start("r2"), TEXT);
    await advance(30_000);
    expect(surface.calls.filter(({ method, isRich }) => method === "post" && isRich).length).toBe(2);
    surface.faultAlways("post", undefined);
    await advance(60 * 60 * 1000);
    delivery.send(start("r3"), TEXT);
    await advance(30_000);
    expect(messagesOf(harness).at(-1)?.blocks).toEqual(richOf(TEXT)[0]);
  });

  it("stay rich if the post with such an answer is found", async () => {
    const harness = harnessOf({ callTimeoutMs: 1_000 }, { probing: true });
    const { surface, delivery, advance, start } = harness;
    surface.fault("post", doubtful, { kind: "lose", done: true });
    delivery.send(start("r1", { seenMessageId: "100" }), TEXT);
    await advance(30_000);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });

  it("stay rich after one such answer, and after another that came later", async () => {
    const harness = harnessOf({ callTimeoutMs: 1_000 }, { probing: true });
    const { surface, delivery, advance, start } = harness;
    surface.fault("post", doubtful);
    surface.fault("edit", undefined, doubtful);
    delivery.open(start("r1", { seenMessageId: "100" }));
    delivery.append("r1", TEXT.slice(0, 480));
    await advance(20_000);
    await stream(harness, "r1", TEXT.slice(480));
    delivery.finish("r1", TEXT);
    await advance(30_000);
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
  });

  it("become ordinary drafts after two such answers", async () => {
    const harness = harnessOf({ mode: "draft" }, { draftLastsMs: 30_000 });
    harness.surface.faultAlways("draft", doubtful, ({ isRich }) => isRich === true);
    await answer(harness, "r1");
    expect(harness.visible()).toEqual(ordinaryOf(TEXT));
    expect(richCalls(harness)).toBe(2);
    const shown = harness.surface.calls.filter((call) => call.method === "draft" && call.outcome === "done");
    expect(shown.length).toBeGreaterThan(0);
  });

  it("fall back to plain text when the ordinary form is refused, too", async () => {
    const harness = harnessOf();
    harness.surface.refuseRich(REFUSED);
    const rejected = { kind: "fail", failure: { kind: "rejected", code: "entities" } } as const;
    harness.surface.fault("post", undefined, rejected);
    await answer(harness, "r1", "- Some **bold** words.");
    expect(messagesOf(harness).map(({ text, entities }) => ({ text, entities }))).toEqual([
      { text: "• Some bold words.", entities: [] },
    ]);
  });

  it.each<[string, "retry-after" | "transient" | "unknown"]>([
    ["a penalty", "retry-after"],
    ["a passing failure", "transient"],
  ])("are not what %s means", async (_name, kind) => {
    const harness = harnessOf();
    harness.surface.fault("post", {
      kind: "fail",
      failure: kind === "retry-after" ? { kind, code: "429", retryAfterMs: 2_000 } : { kind, code: "x" },
    });
    await answer(harness, "r1");
    expect(messagesOf(harness).map(({ blocks }) => blocks)).toEqual(richOf(TEXT));
  });
});

/** Whether the chat shows the reply whole and once, in one form or the other. */
function isWhole(messages: readonly FakeMessage[], text: string): boolean {
  const blocks = messages.map((message) => message.blocks);
  if (JSON.stringify(blocks) === JSON.stringify(richOf(text))) return true;
  const texts = messages.map((message) => message.text);
  return (
    blocks.every((block) => block === undefined) && JSON.stringify(texts) === JSON.stringify(ordinaryOf(text))
  );
}

interface Fate {
  readonly crashes: readonly number[];
  /** After how many chunks rich messages are refused, or taken again. */
  readonly refusals: readonly (readonly [number, string | undefined])[];
  readonly mode?: "edit" | "draft";
}

async function live({ crashes, refusals, mode }: Fate): Promise<CrashWorld> {
  const world = createCrashWorld({ limits: LIMITS, rich: RICH, probing: true, draftLastsMs: 30_000 });
  const policy = { editEveryMs: 100, richMessages: true, ...(mode === undefined ? {} : { mode }) };
  for (const crashAt of [...crashes, 0]) {
    try {
      const process = world.boot(crashAt);
      void process.delivery.run().catch(ignoreCrash);
      await turn(process, world, policy, refusals);
      await process.advance(120_000);
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return world;
}

async function turn(
  { delivery, advance, isDead }: CrashProcess,
  world: CrashWorld,
  policy: ReplyPolicy,
  refusals: Fate["refusals"],
): Promise<void> {
  const state = delivery.receipt("r1")?.state;
  if (state !== undefined && state !== "streaming") return;
  delivery.open(startOf("r1", { policy }));
  delivery.replace("r1", "");
  for (let chunk = 0; chunk * 90 < TEXT.length && !isDead(); chunk += 1) {
    for (const [at, code] of refusals) if (at === chunk) world.platform.refuseRich(code);
    delivery.append("r1", TEXT.slice(chunk * 90, chunk * 90 + 90));
    await advance(70);
  }
  if (!isDead()) delivery.finish("r1", TEXT);
}

describe("a process that dies", () => {
  it.each<[string, Fate["refusals"]]>([
    ["rich messages are taken", []],
    ["the platform knows none", [[0, UNSUPPORTED]]],
    [
      "an edit is refused in mid-stream",
      [
        [0, undefined],
        [4, REFUSED],
      ],
    ],
  ])("at any boundary leaves a reply that is completed in place, once: %s", async (_name, refusals) => {
    for (const crashAt of (await live({ crashes: [], refusals })).deaths()) {
      const world = await live({ crashes: [crashAt], refusals });
      expect(isWhole(world.platform.messages("7"), TEXT), `boundary ${crashAt}`).toBe(true);
    }
  });

  it("continues in the decided form without another refused call", async () => {
    const world = createCrashWorld({ limits: LIMITS, rich: RICH, probing: true });
    world.platform.refuseRich(UNSUPPORTED);
    const first = world.boot(0);
    first.delivery.open(startOf("r1", { policy: { richMessages: true } }));
    first.delivery.append("r1", TEXT.slice(0, 200));
    await first.advance(3_000);
    first.kill();
    world.platform.refuseRich(undefined);
    const second = world.boot(0);
    void second.delivery.run();
    second.delivery.finish("r1", TEXT);
    await second.advance(30_000);
    expect(world.platform.visible("7")).toEqual(ordinaryOf(TEXT));
    expect(world.platform.calls.filter(({ isRich }) => isRich === true).length).toBe(1);
    // What is known of the messenger outlives the process, too.
    second.delivery.send(startOf("r2", { policy: { richMessages: true } }), "# Next");
    await second.advance(10_000);
    expect(world.platform.calls.filter(({ isRich }) => isRich === true).length).toBe(1);
  });

  it("leaves nothing behind, whatever the platform refuses and whenever it does", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          crashes: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
          refusals: fc.array(
            fc.tuple(
              fc.integer({ min: 0, max: 7 }),
              fc.constantFrom<(string | undefined)[]>(UNSUPPORTED, REFUSED, undefined),
            ),
            { maxLength: 4 },
          ),
          mode: fc.constantFrom<("edit" | "draft")[]>("edit", "draft"),
        }),
        async ({ crashes, refusals, mode }) => {
          // Crashes are counted over the whole life.
          const later = crashes.toSorted((left, right) => left - right);
          const world = await live({ crashes: [...new Set(later)], refusals, mode });
          expect(isWhole(world.platform.messages("7"), TEXT)).toBe(true);
        },
      ),
      { numRuns: 120 },
    );
  });
});

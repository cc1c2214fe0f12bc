import { describe, expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { createHarness, expectedContents, expectedMessages } from "./engine-harness.ts";
import type { HarnessOptions } from "./engine-harness.ts";
import { harnessOf, LIMITS, methodsOf, stream, TEXT } from "./mode-harness.ts";

it.each<[DeliveryMode, HarnessOptions["surface"]]>([
  ["edit", {}],
  ["draft", {}],
  ["native", { streams: true }],
  ["buffered", {}],
  ["final-only", {}],
  ["edit", { capabilities: { edit: false, remove: false } }],
  ["draft", { capabilities: { edit: false, remove: false } }],
  ["buffered", { capabilities: { edit: false, remove: false } }],
])("ends with the whole reply, word for word and once, in the mode %s (%j)", async (mode, surface) => {
  const harness = harnessOf(mode, surface);
  const { delivery, advance, start, visible } = harness;
  delivery.open(start("r1"));
  await stream(harness, TEXT);
  delivery.finish("r1", TEXT);
  await advance(20_000);
  expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
  expect(delivery.receipt("r1")?.state).toBe("delivered");
  expect(delivery.nextWakeAt()).toBeUndefined();
});

const DOCUMENTS = {
  paragraphs: TEXT,
  "one long paragraph": TEXT.replaceAll("\n\n", " "),
  code: `\`\`\`ts\n${Array.from({ length: 40 }, (_, index) => `const line${index} = 1;\n`).join("")}\`\`\`\nEnd.`,
  list: Array.from({ length: 30 }, (_, index) => `- item ${index} with some words`).join("\n"),
  table: `| a | b |\n|---|---|\n${Array.from({ length: 30 }, (_, index) => `| item ${index} | words |\n`).join("")}`,
};

it.each(Object.entries(DOCUMENTS))(
  "finishes each message before the next one appears, in a document of %s",
  async (_name, text) => {
    const harness = harnessOf("edit");
    const whole = expectedMessages(text, LIMITS);
    harness.delivery.open(harness.start("r1"));
    await stream(harness, text, () => {
      const finished = harness.visible().slice(0, -1);
      expect(finished).toEqual(whole.slice(0, finished.length));
    });
    expect(harness.visible().length).toBeGreaterThan(2);
  },
);

describe("final-only", () => {
  it("shows nothing but typing until the text is whole", async () => {
    const harness = harnessOf("final-only");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, TEXT, () => expect(harness.visible()).toEqual([]));
    expect(methodsOf(harness)).toEqual(["typing"]);
    harness.delivery.finish("r1", TEXT);
    await harness.advance(5_000);
    expect(methodsOf(harness)).toEqual(["typing", "post"]);
    expect(harness.surface.calls.findLast(({ method }) => method === "typing")?.at).toBeLessThan(
      harness.surface.calls.find(({ method }) => method === "post")?.at ?? 0,
    );
  });
});

describe("buffered", () => {
  it("posts each message when it is complete, and never changes it", async () => {
    const harness = harnessOf("buffered", { capabilities: { edit: false, remove: false } });
    const whole = expectedMessages(TEXT, LIMITS);
    harness.delivery.open(harness.start("r1"));
    let seen = 0;
    await stream(harness, TEXT, () => {
      expect(whole.slice(0, harness.visible().length)).toEqual(harness.visible());
      seen = harness.visible().length;
    });
    expect(seen).toBeGreaterThan(2);
    harness.delivery.finish("r1", TEXT);
    await harness.advance(5_000);
    expect(harness.visible()).toEqual(whole);
    expect(methodsOf(harness)).toEqual(["typing", "post"]);
  });

  it("posts a restarted answer again from its start, if nothing can be edited", async () => {
    const harness = harnessOf("buffered", { capabilities: { edit: false, remove: false } });
    const other = TEXT.replaceAll("something", "another thing");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, TEXT.slice(0, 310));
    const [first] = harness.visible();
    expect(harness.visible()).toHaveLength(1);
    harness.delivery.replace("r1", other.slice(0, 300));
    await harness.advance(2_000);
    harness.delivery.finish("r1", other);
    await harness.advance(5_000);
    expect(harness.visible()).toEqual([first, ...expectedMessages(other, LIMITS)]);
    expect(harness.delivery.receipt("r1")?.state).toBe("delivered");
  });

  it("keeps the messages of a restarted answer until their new text is known", async () => {
    const harness = harnessOf("buffered");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, TEXT.slice(0, 550));
    const count = harness.visible().length;
    expect(count).toBeGreaterThan(1);
    harness.delivery.replace("r1", "");
    await stream(harness, TEXT, () => expect(harness.visible().length).toBeGreaterThanOrEqual(count));
    harness.delivery.finish("r1", TEXT);
    await harness.advance(5_000);
    expect(harness.visible()).toEqual(expectedMessages(TEXT, LIMITS));
    expect(methodsOf(harness)).not.toContain("remove");
  });

  it("loses nothing if a post of the void attempt lands late, and nothing can be edited", async () => {
    const harness = harnessOf("buffered", { capabilities: { edit: false, remove: false } });
    const { delivery, advance, start, surface, visible } = harness;
    const other = TEXT.replaceAll("something", "another thing");
    surface.fault("post", { kind: "hang", answerAfterMs: 16_000 });
    delivery.open(start("r1"));
    delivery.append("r1", TEXT.slice(0, 310));
    await advance(1_000);
    delivery.replace("r1", "");
    delivery.finish("r1", other);
    await advance(60_000);
    const whole = expectedMessages(other, LIMITS);
    expect(visible().slice(-whole.length)).toEqual(whole);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });

  it("removes the void messages of a restarted answer, if it can", async () => {
    const harness = harnessOf("buffered", { capabilities: { edit: false, remove: true } });
    const other = TEXT.replaceAll("something", "another thing");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, TEXT.slice(0, 550));
    expect(harness.visible()).toHaveLength(2);
    harness.delivery.replace("r1", "");
    harness.delivery.finish("r1", other);
    await harness.advance(5_000);
    expect(harness.visible()).toEqual(expectedMessages(other, LIMITS));
  });
});

describe("native", () => {
  const text = "The lamp went out at nine, and **nobody** in the house noticed it.";
  const shown = text.replaceAll("**", "");

  it("streams only new text into one message, and edits nothing", async () => {
    const harness = harnessOf("native", { streams: true });
    const { delivery, advance, start, surface, visible } = harness;
    delivery.open(start("r1"));
    await stream(harness, text, () => {
      for (const message of visible()) expect(shown.startsWith(message)).toBe(true);
    });
    expect(surface.messages("7")[0]?.isStreaming).toBe(true);
    delivery.finish("r1", text);
    await advance(2_000);
    expect(visible()).toEqual([shown]);
    expect(surface.messages("7")[0]).toMatchObject({
      isStreaming: false,
      entities: [{ type: "bold", offset: 31, length: 6 }],
    });
    const sent = surface.calls.filter(({ method }) => method === "begin" || method === "append");
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.map((call) => call.text).join("")).toBe(shown);
    expect(methodsOf(harness)).toEqual(["begin", "append", "end"]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });

  it("finishes each message's stream before it begins the next", async () => {
    const harness = harnessOf("native", { streams: true });
    harness.delivery.open(harness.start("r1"));
    await stream(harness, TEXT, () => {
      for (const message of harness.surface.messages("7").slice(0, -1))
        expect(message.isStreaming).toBe(false);
    });
    expect(harness.visible().length).toBeGreaterThan(2);
  });

  it("ends the stream and edits the message when the model call is restarted", async () => {
    const harness = harnessOf("native", { streams: true });
    const { delivery, advance, start, surface, visible } = harness;
    delivery.open(start("r1"));
    await stream(harness, text.slice(0, 40));
    delivery.replace("r1", "Quite another beginning");
    await advance(3_000);
    expect(visible()).toEqual(["Quite another beginning"]);
    delivery.finish("r1", "Quite another beginning, and its end.");
    await advance(2_000);
    expect(visible()).toEqual(["Quite another beginning, and its end."]);
    expect(surface.messages("7")[0]?.isStreaming).toBe(false);
  });

  it("never repeats an addition without an answer, and corrects the message by an edit", async () => {
    for (const done of [true, false]) {
      const harness = harnessOf("native", { streams: true });
      const { delivery, advance, start, surface, visible } = harness;
      surface.fault("append", { kind: "lose", done });
      delivery.open(start("r1"));
      await stream(harness, text);
      delivery.finish("r1", text);
      await advance(20_000);
      expect(visible()).toEqual([shown]);
      expect(surface.calls.filter(({ method }) => method === "append")).toHaveLength(1);
      expect(delivery.receipt("r1")?.state).toBe("delivered");
    }
  });

  it.each(["rejected", "misconfigured"] as const)(
    "goes on with edits when streaming is refused (%s)",
    async (kind) => {
      const harness = harnessOf("native", { streams: true });
      const { delivery, advance, start, surface, visible } = harness;
      surface.faultAlways("begin", { kind: "fail", failure: { kind, code: "refused" } });
      delivery.open(start("r1"));
      await stream(harness, text);
      expect(visible()).toHaveLength(1);
      delivery.finish("r1", text);
      await advance(2_000);
      expect(visible()).toEqual([shown]);
      expect(surface.calls.filter(({ method }) => method === "begin")).toHaveLength(1);
    },
  );

  it("still ends the stream after the token was refused for a moment", async () => {
    const harness = harnessOf("native", { streams: true });
    const { delivery, advance, start, surface, visible } = harness;
    surface.fault("end", { kind: "fail", failure: { kind: "misconfigured", code: "token-refused" } });
    delivery.open(start("r1"));
    await stream(harness, "A short answer to you.");
    delivery.finish("r1", "A short answer to you.");
    await advance(120_000);
    expect(visible()).toEqual(["A short answer to you."]);
    expect(surface.messages("7")).toMatchObject([{ isStreaming: false }]);
    expect(delivery.receipt("r1")?.state).toBe("delivered");
  });

  /** A call a second, so that the answer comes while later parts are posted. */
  const RATE = { burst: 1, everyMs: 1_000 };
  const SLOW = { direct: RATE, group: RATE, global: RATE };

  it("ends the stream of a first message whose answer comes after its text was sent again", async () => {
    const harness = createHarness({
      policy: { mode: "native", callTimeoutMs: 1_000 },
      surface: { limits: LIMITS, streams: true, pacing: SLOW },
    });
    const { delivery, advance, start, surface } = harness;
    surface.fault("begin", { kind: "hang", answerAfterMs: 3_700 });
    delivery.open(start("r1"));
    delivery.append("r1", TEXT.slice(0, 40));
    await advance(1_500);
    delivery.finish("r1", TEXT);
    await advance(60_000);
    const expected = expectedContents(TEXT, LIMITS);
    expect(surface.messages("7").map(({ text: said, entities }) => ({ text: said, entities }))).toEqual(
      expected.map(({ text: said, entities }) => ({ text: said, entities })),
    );
    expect(surface.calls.filter(({ outcome }) => outcome === "rejected")).toEqual([]);
  });

  it("uses edits on platforms without streams", async () => {
    const harness = harnessOf("native");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, text);
    expect(methodsOf(harness)).toEqual(["post", "edit"]);
  });
});

import { describe, expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/delivery.ts";
import { createHarness, expectedMessages } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

const LIMITS = { maxLength: 200, maxEntities: 100 };
const TEXT = Array.from(
  { length: 16 },
  (_, index) => `Paragraph ${index} says **something** of its own.`,
).join("\n\n");
const GROUP = { messengerId: "telegram", threadId: "telegram:-7", chatId: "-7", isDirectMessage: false };

function harnessOf(mode: DeliveryMode, surface: HarnessOptions["surface"] = {}): Harness {
  return createHarness({ policy: { mode }, surface: { limits: LIMITS, draftLastsMs: 30_000, ...surface } });
}

/** Streams the text in pieces, and looks at the chat after each. */
async function stream(
  { delivery, advance }: Harness,
  text: string,
  look: (soFar: string) => void = () => {},
): Promise<void> {
  for (let at = 0; at < text.length; at += 20) {
    delivery.append("r1", text.slice(at, at + 20));
    await advance(300);
    look(text.slice(0, at + 20));
  }
}

const methodsOf = ({ surface }: Harness): string[] => [...new Set(surface.calls.map(({ method }) => method))];

const lettersOf = (...texts: string[]): string => texts.join("").replaceAll(/\s/g, "");

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

  it("says an answer that was begun anew again from its start, where nothing can be edited", async () => {
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

  it("keeps the messages of an answer that was begun anew until their text is known", async () => {
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

  it("loses nothing when a post of the void attempt lands late, where nothing can be edited", async () => {
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

  it("takes the void messages of an answer that was begun anew away, where it can", async () => {
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

describe("draft", () => {
  it("grows a draft, and makes it a message when the text is whole", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface, visible } = harness;
    const text = "The lamp went out at nine, and **nobody** in the house noticed it.";
    const drafts = new Set<string>();
    delivery.open(start("r1"));
    await stream(harness, text, () => {
      expect(visible()).toEqual([]);
      const draft = surface.draft("7");
      if (draft !== undefined) drafts.add(draft);
    });
    expect(drafts.size).toBeGreaterThan(1);
    for (const draft of drafts) expect(text.replaceAll("**", "").startsWith(draft)).toBe(true);
    expect(delivery.receipt("r1")?.messages).toEqual([]);
    delivery.finish("r1", text);
    await advance(100);
    expect(visible()).toEqual([text.replaceAll("**", "")]);
    expect(surface.draft("7")).toBeUndefined();
    expect(methodsOf(harness)).toEqual(["draft", "post"]);
  });

  it("makes each part a message as soon as it is complete, and drafts the next one", async () => {
    const harness = harnessOf("draft");
    const { delivery, start, surface, visible } = harness;
    const whole = expectedMessages(TEXT, LIMITS);
    let both = 0;
    delivery.open(start("r1"));
    await stream(harness, TEXT, () => {
      expect(whole.slice(0, visible().length)).toEqual(visible());
      const draft = surface.draft("7");
      if (draft === undefined) return;
      expect(lettersOf(...whole).startsWith(lettersOf(...visible(), draft))).toBe(true);
      if (visible().length > 0) both += 1;
    });
    expect(both).toBeGreaterThan(0);
    expect(visible().length).toBeGreaterThan(2);
  });

  it("keeps the draft alive while the model is silent, and lets it fade when nothing comes for long", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface } = harness;
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think about it");
    for (let seconds = 0; seconds < 300; seconds += 5) {
      await advance(5_000);
      expect(surface.draft("7")).toBe("Let me think about it");
    }
    const perMinute = surface.calls.filter(({ method }) => method === "draft").length / 5;
    expect(perMinute).toBeLessThanOrEqual(4);
    await advance(400_000);
    expect(surface.draft("7")).toBeUndefined();
    delivery.append("r1", " a little longer");
    await advance(1_000);
    expect(surface.draft("7")).toBe("Let me think about it a little longer");
  });

  it("shows more text at once while it only keeps the draft alive", async () => {
    const { delivery, advance, start, surface } = harnessOf("draft");
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(5_000);
    delivery.append("r1", " about it");
    await advance(100);
    expect(surface.draft("7")).toBe("Let me think about it");
  });

  it("shows the draft again when the answer of a command has taken its place", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(2_000);
    delivery.send(start("help"), "You can write to me.");
    await advance(2_000);
    expect(visible()).toEqual(["You can write to me."]);
    expect(surface.draft("7")).toBe("Let me think");
  });

  it("means edits in a group", async () => {
    const harness = harnessOf("draft");
    harness.delivery.open(harness.start("r1", { address: GROUP }));
    await stream(harness, "The lamp went out at nine, and nobody noticed.");
    harness.delivery.finish("r1", "The lamp went out at nine, and nobody noticed.");
    await harness.advance(2_000);
    expect(harness.surface.visible("-7")).toEqual(["The lamp went out at nine, and nobody noticed."]);
    expect(methodsOf(harness)).toEqual(["post", "edit"]);
  });

  it.each(["rejected", "misconfigured", "gone", "missing"] as const)(
    "goes on with edits when the draft is refused (%s), at once and without loss",
    async (kind) => {
      const harness = harnessOf("draft");
      const { delivery, advance, start, surface, visible } = harness;
      surface.faultAlways("draft", { kind: "fail", failure: { kind, code: "refused" } });
      delivery.open(start("r1"));
      await stream(harness, TEXT);
      expect(surface.calls.filter(({ method }) => method === "draft")).toHaveLength(1);
      expect(expectedMessages(TEXT, LIMITS)[0]).toBe(visible()[0]);
      delivery.finish("r1", TEXT);
      await advance(5_000);
      expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
      expect(delivery.receipt("r1")?.state).toBe("delivered");
    },
  );

  it("does not let anybody wait for a draft that is refused", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    surface.fault("draft", { kind: "fail", failure: { kind: "rejected", code: "refused" } });
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(2_000);
    expect(visible()).toEqual(["Let me think"]);
    const [refused, posted] = surface.calls.filter(({ method }) => method !== "typing");
    expect(posted?.at).toBeLessThan((refused?.at ?? 0) + 100);
  });

  it("goes on with edits when the draft is refused in the middle of a long reply", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface, visible } = harness;
    delivery.open(start("r1"));
    await stream(harness, TEXT.slice(0, 310));
    expect(visible()).toHaveLength(1);
    surface.faultAlways("draft", { kind: "fail", failure: { kind: "rejected", code: "refused" } });
    delivery.append("r1", TEXT.slice(310, 350));
    await advance(3_000);
    expect(visible()).toHaveLength(2);
    delivery.finish("r1", TEXT);
    await advance(5_000);
    expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
  });

  it("sends nothing during a penalty that a draft has met, and loses nothing for it (I8)", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface, visible } = harness;
    surface.fault("draft", undefined, {
      kind: "fail",
      failure: { kind: "retry-after", code: "429", retryAfterMs: 20_000 },
    });
    delivery.open(start("r1"));
    await stream(harness, TEXT.slice(0, 200));
    delivery.finish("r1", TEXT);
    await advance(60_000);
    expect(surface.penaltyBreaches).toEqual([]);
    expect(visible()).toEqual(expectedMessages(TEXT, LIMITS));
  });

  it.each(["transient", "unknown"] as const)("tries a draft again that has failed (%s)", async (kind) => {
    const { delivery, advance, start, surface } = harnessOf("draft");
    surface.fault("draft", { kind: "fail", failure: { kind, code: "network" } });
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(3_000);
    expect(surface.draft("7")).toBe("Let me think");
  });

  it("waits at most five seconds for a draft that hangs before it sends the whole text", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    surface.fault("draft", { kind: "hang" });
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(200);
    delivery.finish("r1", "Let me think. Yes.");
    await advance(5_500);
    expect(visible()).toEqual(["Let me think. Yes."]);
  });

  it("draws on the chat's budget like an interim edit, and leaves the slot of the whole text alone (I7)", async () => {
    const pacing = {
      direct: { burst: 3, everyMs: 1_000 },
      group: { burst: 3, everyMs: 3_000 },
      global: { burst: 30, everyMs: 34 },
    };
    const harness = harnessOf("draft", { pacing });
    const { clock, delivery, start, surface, visible } = harness;
    const text = "The lamp went out at nine, and nobody noticed it. ".repeat(3).trim();
    delivery.open(start("r1"));
    await stream(harness, text);
    const startedAt = surface.calls[0]?.at ?? 0;
    const spentMs = clock.now() - startedAt;
    expect(surface.calls.length).toBeLessThanOrEqual(3 + spentMs / 1_000);
    delivery.finish("r1", text);
    await clock.advance(100);
    expect(visible()).toEqual([text]);
  });

  it("edits the message that a restarted model call has left, instead of drafting beside it", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface, visible } = harness;
    delivery.open(start("r1"));
    await stream(harness, TEXT.slice(0, 310));
    expect(visible()).toHaveLength(1);
    const drafts = surface.calls.filter(({ method }) => method === "draft").length;
    delivery.replace("r1", "Quite another beginning");
    await advance(3_000);
    expect(visible()).toEqual(["Quite another beginning"]);
    expect(surface.calls.filter(({ method }) => method === "draft")).toHaveLength(drafts);
    delivery.finish("r1", "Quite another beginning, and its end.");
    await advance(2_000);
    expect(visible()).toEqual(["Quite another beginning, and its end."]);
  });

  it("drafts a part whose post was refused, when the model call is restarted", async () => {
    const harness = harnessOf("draft");
    const { delivery, advance, start, surface, visible } = harness;
    const flood = { kind: "retry-after", code: "429", retryAfterMs: 30_000 } as const;
    surface.fault("post", { kind: "fail", failure: flood });
    delivery.open(start("r1"));
    await stream(harness, TEXT.slice(0, 310));
    expect(delivery.receipt("r1")?.messages).toMatchObject([{ state: "planned" }]);
    delivery.replace("r1", "Quite another beginning");
    await advance(40_000);
    expect(visible()).toEqual([]);
    expect(surface.draft("7")).toBe("Quite another beginning");
    delivery.finish("r1", "Quite another beginning, and its end.");
    await advance(2_000);
    expect(visible()).toEqual(["Quite another beginning, and its end."]);
  });

  it("is taken over by the reply that answers one more line", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    delivery.open(start("r1"));
    delivery.append("r1", "To your first line");
    await advance(500);
    delivery.withdraw("r1");
    delivery.open(start("r2", { takesOver: "r1" }));
    delivery.append("r2", "To both of your lines");
    await advance(2_000);
    expect(surface.draft("7")).toBe("To both of your lines");
    delivery.finish("r2", "To both of your lines.");
    await advance(1_000);
    expect(visible()).toEqual(["To both of your lines."]);
    expect(surface.draft("7")).toBeUndefined();
  });
});

describe("native", () => {
  const text = "The lamp went out at nine, and **nobody** in the house noticed it.";
  const shown = text.replaceAll("**", "");

  it("streams into one message, by what is new each time, and edits nothing", async () => {
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

  it("never repeats an addition whose answer was lost, and puts the message right by an edit", async () => {
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

  it("ends the stream in the end when the token is refused for a moment", async () => {
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

  it("means edits where there are no streams", async () => {
    const harness = harnessOf("native");
    harness.delivery.open(harness.start("r1"));
    await stream(harness, text);
    expect(methodsOf(harness)).toEqual(["post", "edit"]);
  });
});

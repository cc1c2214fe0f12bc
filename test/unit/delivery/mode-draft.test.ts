import { describe, expect, it } from "vitest";
import { expectedMessages } from "./engine-harness.ts";
import { GROUP, harnessOf, lettersOf, LIMITS, methodsOf, stream, TEXT } from "./mode-harness.ts";

describe("draft", () => {
  it("shows a growing draft, and makes it a message when the text is whole", async () => {
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

  it("uses edits in a group", async () => {
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

  it("makes no reader wait for a refused draft", async () => {
    const { delivery, advance, start, surface, visible } = harnessOf("draft");
    surface.fault("draft", { kind: "fail", failure: { kind: "rejected", code: "refused" } });
    delivery.open(start("r1"));
    delivery.append("r1", "Let me think");
    await advance(2_000);
    expect(visible()).toEqual(["Let me think"]);
    const [refused, posted] = surface.calls.filter(({ method }) => method !== "typing");
    expect(posted?.at).toBeLessThan((refused?.at ?? 0) + 100);
  });

  it("continues with edits if the draft is refused in the middle of a long reply", async () => {
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

  it("sends nothing during a penalty from a draft, and loses nothing (I8)", async () => {
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

  it("is taken over by the reply to one more line", async () => {
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

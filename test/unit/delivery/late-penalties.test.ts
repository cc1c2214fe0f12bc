import { expect, it } from "vitest";
import { createHarness } from "./engine-harness.ts";

it.each(["edit", "remove", "probe", "post"] as const)(
  "obeys a penalty that a %s announces after its time limit",
  async (method) => {
    const flood = { kind: "retry-after", code: "429", retryAfterMs: 60_000 } as const;
    const { advance, clock, delivery, start, surface } = createHarness({
      policy: { callTimeoutMs: 2_000 },
      surface: { capabilities: { typing: false }, limits: { maxLength: 40, maxEntities: 9 }, probing: true },
    });
    const post = (id: string, words: number): void =>
      delivery.sendCard(start(id, { seenMessageId: "100" }), { key: id, text: "Some words. ".repeat(words) });
    const lateAt = clock.now() + 12_000;
    const late = { kind: "hang", answerAfterMs: 9_000, failure: flood } as const;
    if (method === "probe") surface.fault("post", { kind: "lose", done: false });
    if (method === "probe" || method === "post") surface.fault(method, late);
    else await advance(3_000);
    post("c1", 6);
    if (method === "edit" || method === "remove") {
      await advance(1_000);
      surface.fault(method, late);
      delivery.revise("c1", { key: "c1", text: method === "edit" ? "Other words. ".repeat(6) : "Done." });
    }
    await advance(lateAt + 2_000 - clock.now());
    const calls = surface.calls.length;
    post("c2", 1);
    await advance(50_000);
    expect(surface.calls).toHaveLength(calls);
    await advance(60_000);
    expect(surface.visible(start("c2").address.chatId)).toContain("Some words.");
  },
);

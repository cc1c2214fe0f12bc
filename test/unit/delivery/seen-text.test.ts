import { describe, expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { joinParagraphs } from "../../../src/outgoing/index.ts";
import { harnessOf, TEXT } from "./mode-harness.ts";

const MARK = "(stopped)";
const DOCUMENTS: Readonly<Record<string, string>> = {
  paragraphs: TEXT,
  "one long paragraph": TEXT.replaceAll("\n\n", " "),
  code: `\`\`\`ts\n${Array.from({ length: 40 }, (_, index) => `const line${index} = 1;\n`).join("")}\`\`\`\nEnd.`,
  list: Array.from({ length: 30 }, (_, index) => `- item ${index} with some words`).join("\n"),
  "emphasis without end": `Before **${"and on ".repeat(90)}`,
  "one long word": "x".repeat(900),
};
const CASES = Object.keys(DOCUMENTS).flatMap((name) =>
  (["edit", "native", "buffered"] as const).flatMap((mode) =>
    [350, 1_400, 2_500, 6_000].map((after) => [mode, name, after] as const),
  ),
);

/** What a person sees of a reply that is stopped while its model is far ahead of its messages. */
async function stopped(mode: DeliveryMode, text: string, after: number) {
  const harness = harnessOf(mode, mode === "native" ? { streams: true } : {});
  const { advance, delivery, start, visible } = harness;
  delivery.open(start("r1"));
  for (let at = 0; at < text.length; at += 30) {
    delivery.append("r1", text.slice(at, at + 30));
    await advance(10);
  }
  await advance(after);
  // What is under way will be seen, too.
  while (delivery.receipt("r1")?.messages.some(({ state }) => state === "sending") === true) await advance(5);
  const before = visible();
  const seen = delivery.seenText("r1");
  delivery.finish("r1", joinParagraphs(seen ?? "unknown", MARK));
  await advance(20_000);
  return { before, after: visible(), receipt: delivery.receipt("r1") };
}

describe("a reply that is stopped", () => {
  it.each(CASES)("leaves what is visible as it is, with a mark (%s, %s, %i ms)", async (mode, name, ms) => {
    const { before, after, receipt } = await stopped(mode, DOCUMENTS[name] ?? "", ms);
    const all = after.join("\n\n");
    expect(all.endsWith(MARK)).toBe(true);
    expect(all.slice(0, -MARK.length).trim()).toBe(before.join("\n\n").trim());
    expect(receipt?.state).toBe("delivered");
  });

  it("shows only the mark if nothing was visible yet", async () => {
    const { after, before } = await stopped("edit", "", 0);
    expect([before, after]).toEqual([[], [MARK]]);
  });

  it.each(["draft", "final-only"] as const)("is not known by its messages in the mode %s", async (mode) => {
    const { delivery, advance, start } = harnessOf(mode);
    delivery.open(start("r1"));
    delivery.append("r1", "One two three.");
    await advance(2_000);
    expect(delivery.seenText("r1")).toBeUndefined();
  });
});

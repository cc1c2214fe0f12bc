import { describe, expect, it } from "vitest";
import { createHarness } from "./engine-harness.ts";

async function shownOf(...pieces: readonly string[]): Promise<readonly string[]> {
  const { delivery, clock, start, surface, visible } = createHarness();
  delivery.open(start("r1"));
  const seen: string[] = [];
  for (const piece of pieces) {
    delivery.append("r1", piece);
    await clock.advance(1_000);
    seen.push(visible()[0] ?? "");
  }
  expect(surface.messages("7").length).toBeLessThanOrEqual(1);
  return seen;
}

describe("the first text", () => {
  it.each([
    "The",
    "Yes",
    "**Hel",
    "I am",
    "Ok.",
    "No, ",
    "# Plan",
    "- one",
    "1. One",
    "12 + 3",
    "你",
    "はい",
    "네",
    "Да!",
    "👍",
    "Ça v",
    "a b",
    "`npm`",
  ])("appears at once: %j", async (piece) => {
    expect((await shownOf(piece))[0]).not.toBe("");
  });

  it.each([
    "*",
    "**",
    "#",
    "## ",
    "-",
    "- ",
    "> ",
    "1. ",
    "1. A",
    "H",
    "He",
    "**He",
    "…",
    "“",
    "\n",
    "`",
    "  I",
  ])("does not appear before there is a word: %j", async (piece) => {
    expect((await shownOf(piece, "llo there, Ada"))[0]).toBe("");
    expect((await shownOf(piece, "llo there, Ada")).at(-1)).toContain("llo there, Ada");
  });

  it("appears with the whole text, however short it is", async () => {
    const { delivery, clock, start, visible } = createHarness();
    delivery.open(start("r1"));
    delivery.append("r1", "4");
    await clock.advance(1_000);
    expect(visible()).toEqual([]);
    delivery.finish("r1", "4");
    await clock.advance(100);
    expect(visible()).toEqual(["4"]);
  });

  it("does not shorten an earlier attempt's text to half a word", async () => {
    const { delivery, clock, start, visible } = createHarness();
    delivery.open(start("r1"));
    delivery.append("r1", "The lamp went out");
    await clock.advance(1_000);
    delivery.replace("r1", "Th");
    await clock.advance(1_000);
    expect(visible()).toEqual(["The lamp went out"]);
    delivery.append("r1", "is lamp");
    await clock.advance(1_000);
    expect(visible()).toEqual(["This lamp"]);
  });
});

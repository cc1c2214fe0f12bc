import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDeltaMerger } from "../../../src/models/merge-deltas.ts";
import { FakeClock } from "./fake-clock.ts";
import { delta, FINISH } from "./stub-model.ts";

function rig(mergeMs = 100) {
  const clock = new FakeClock();
  const emitted: { readonly at: number; readonly part: LanguageModelV4StreamPart }[] = [];
  const startedAt = clock.now();
  const merger = createDeltaMerger({
    clock,
    mergeMs,
    emit: (part) => emitted.push({ at: clock.now() - startedAt, part }),
  });
  return {
    clock,
    merger,
    emitted,
    texts: () => emitted.map(({ part }) => (isDelta(part) ? part.delta : part.type)),
  };
}

type Delta = Extract<LanguageModelV4StreamPart, { delta: string }>;

function isDelta(part: LanguageModelV4StreamPart): part is Delta {
  return "delta" in part;
}

/** Neighbouring deltas of one block are one, as far as a reader of the text can tell. */
function joined(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4StreamPart[] {
  const result: LanguageModelV4StreamPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    const isSame =
      last !== undefined && isDelta(last) && isDelta(part) && last.type === part.type && last.id === part.id;
    const isPlain = isSame && last.providerMetadata === undefined && part.providerMetadata === undefined;
    if (isPlain) result[result.length - 1] = { ...part, delta: last.delta + part.delta };
    else result.push(part);
  }
  return result;
}

describe("createDeltaMerger", () => {
  it("passes the first delta of a block at once", () => {
    const { merger, texts } = rig();
    merger.push({ type: "text-start", id: "1" });
    merger.push(delta("Hel"));
    expect(texts()).toEqual(["text-start", "Hel"]);
  });

  it("joins what follows within the time, and emits it when the time is over", async () => {
    const { clock, merger, emitted, texts } = rig();
    for (const word of ["a", "b", "c", "d"]) {
      merger.push(delta(word));
      await clock.advance(30);
    }
    expect(texts()).toEqual(["a", "bcd"]);
    expect(emitted.map(({ at }) => at)).toEqual([0, 100]);
  });

  it("collects for longer with each piece, so that the second comes soon", async () => {
    const { clock, emitted, merger } = rig(500);
    for (let index = 0; index < 40; index += 1) {
      merger.push(delta(`${index} `));
      await clock.advance(50);
    }
    expect(emitted.map(({ at }) => at)).toEqual([0, 100, 300, 700, 1200, 1700]);
  });

  it("does not delay a slow model", async () => {
    const { clock, merger, emitted } = rig();
    for (const word of ["a", "b", "c"]) {
      merger.push(delta(word));
      await clock.advance(150);
    }
    expect(emitted.map(({ at }) => at)).toEqual([0, 150, 300]);
  });

  it("emits what it holds in front of any other part", () => {
    const { merger, texts } = rig();
    merger.push(delta("a"));
    merger.push(delta("b"));
    merger.push({ type: "text-end", id: "1" });
    merger.push(FINISH);
    expect(texts()).toEqual(["a", "b", "text-end", "finish"]);
  });

  it("keeps a delta with metadata as it is", () => {
    const { merger, emitted } = rig();
    const signed: LanguageModelV4StreamPart = {
      type: "reasoning-delta",
      id: "r",
      delta: "",
      providerMetadata: { anthropic: { signature: "s" } },
    };
    merger.push({ type: "reasoning-delta", id: "r", delta: "think" });
    merger.push({ type: "reasoning-delta", id: "r", delta: "ing" });
    merger.push(signed);
    expect(emitted.map(({ part }) => part)).toEqual([
      { type: "reasoning-delta", id: "r", delta: "think" },
      { type: "reasoning-delta", id: "r", delta: "ing" },
      signed,
    ]);
  });

  it("joins nothing when the time is 0", () => {
    const { merger, texts } = rig(0);
    for (const word of ["a", "b", "c"]) merger.push(delta(word));
    expect(texts()).toEqual(["a", "b", "c"]);
  });

  it("loses nothing, keeps the order, and holds no delta longer than the time", async () => {
    const part = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constantFrom("text-delta", "reasoning-delta", "tool-input-delta"),
          id: fc.constantFrom("1", "2"),
          delta: fc.string({ maxLength: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constantFrom("text-start", "text-end"),
          id: fc.constantFrom("1", "2"),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ type: "ping" }) },
    ) as fc.Arbitrary<LanguageModelV4StreamPart>;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(part, fc.constantFrom(0, 0, 10, 60, 250)), { maxLength: 30 }),
        async (steps) => {
          const { clock, merger, emitted } = rig();
          const startedAt = clock.now();
          let pushedText = "";
          const pushed: { at: number; text: string }[] = [];
          for (const [next, pauseMs] of steps) {
            merger.push(next);
            if (isDelta(next)) pushedText += next.delta;
            pushed.push({ at: clock.now() - startedAt, text: pushedText });
            if (pauseMs > 0) await clock.advance(pauseMs);
          }
          merger.flush();
          expect(joined(emitted.map(({ part }) => part))).toEqual(joined(steps.map(([next]) => next)));
          for (const { at, text } of pushed) {
            const visible = emitted
              .filter((entry) => entry.at <= at + 100)
              .map(({ part }) => (isDelta(part) ? part.delta : ""));
            expect(visible.join("").startsWith(text)).toBe(true);
          }
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

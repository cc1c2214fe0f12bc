import { describe, expect, it } from "vitest";
import { costlyTexts } from "../../../lab/support/costly-texts.ts";
import { leastWork, NOISE } from "../../support/least-work.ts";
import { inChunks, streamThrough } from "./stream-through.ts";

describe("the work of cleaning a text that streams", NOISE, () => {
  it.each(Object.entries(costlyTexts))("grows in proportion to the length of %s", (_name, make) => {
    const stream = (length: number) => (): void => {
      streamThrough(inChunks(make(length), 12));
    };
    stream(5000)();
    const smallWork = leastWork(3, stream(10_000));
    // Four times the text: work in proportion is four times as much, quadratic work sixteen times.
    const most = smallWork * 8 + 30;
    expect(leastWork(2, stream(40_000), most)).toBeLessThan(most);
  });
});

import { describe, expect, it } from "vitest";
import { findChromium } from "./browser.ts";

describe("findChromium", () => {
  it("fails with what to do when there is no Chromium, instead of skipping", () => {
    expect(() => findChromium({ CHROMIUM: "/nowhere/chromium" })).toThrow(
      /no Chromium|need Chromium, and there is none at \/nowhere\/chromium/,
    );
  });
});

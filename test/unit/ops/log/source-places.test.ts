import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SourcePlaces } from "../../../../ops/serve/log/source-places.ts";

/** Line 2 of the bundle is line 2 of a package; its lines 3 and 4 are lines 7 and 4 of the bot. */
const MAP = {
  version: 3,
  sources: ["../node_modules/strict/index.js", "../bot/worker.ts"],
  names: [],
  mappings: ";AACQ;ACKN;AAHA",
};

const PACKAGE = "at refuse (worker.js:2:9)";
const OUTER = "at async outer (worker.js:3:3)";
const TOOL = "at Bot.tool (worker.js:4:3)";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "switchboard-places-"));
  writeFileSync(path.join(directory, "worker.js.map"), JSON.stringify(MAP));
  writeFileSync(path.join(directory, "broken.map"), JSON.stringify({ ...MAP, version: 2 }));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

function translate(frames: readonly string[], mapFile = "worker.js.map"): string[] {
  const places = new SourcePlaces({
    mapFile: path.join(directory, mapFile),
    sourcesFrom: "/project/built",
    moduleName: "worker.js",
    shownFrom: "/project",
  });
  return places.translate(frames.join(" < ")).split(" < ");
}

describe("the places of a failure", () => {
  it("are those of the author's files, behind the one where it began", () => {
    expect(translate([PACKAGE, OUTER, TOOL])).toEqual([
      "at refuse (node_modules/strict/index.js:2:9)",
      "at async outer (bot/worker.ts:7:3)",
      "at Bot.tool (bot/worker.ts:4:3)",
    ]);
  });

  it("leave out packages on the way to the author's file", () => {
    expect(
      translate([PACKAGE, ...Array.from({ length: 8 }, () => PACKAGE.replace("2:9", "2:10")), TOOL]),
    ).toEqual(["at refuse (node_modules/strict/index.js:2:9)", "at Bot.tool (bot/worker.ts:4:3)"]);
  });

  it("are three at most", () => {
    const deep = [1, 2, 3, 4, 5].map((column) => `at f${column} (worker.js:3:${column})`);
    expect(translate(deep)).toHaveLength(3);
    expect(translate([PACKAGE, "at native", "at x (node:internal:1:2)", "at y (z.js:1:1)"])).toHaveLength(3);
  });

  it("may have a path in front, as addresses of modules have", () => {
    expect(translate(["at file:///data/worker/worker.js:4:3"])).toEqual(["at bot/worker.ts:4:3"]);
  });

  it.each(["none.map", "broken.map"])("stay those of the bundle with %s", (mapFile) => {
    expect(translate([PACKAGE, OUTER, TOOL, "at more (x.js:1:1)"], mapFile)).toEqual([PACKAGE, OUTER, TOOL]);
  });

  it.each(["at native", "at a (worker.js:9999:1)", "at b (otherworker.js:2:9)", "at c (worker.js:1:1)", ""])(
    "stay as they are where the map knows nothing: %j",
    (frame) => {
      expect(translate([frame])).toEqual([frame]);
    },
  );
});

import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { findSources } from "./source-map.ts";

/** Most places of a stack in a line: the first one, and those in the author's files. */
const SHOWN = 3;

/** Number of frames to remember, so that a repeated failure needs the map only once. */
const MOST_KNOWN = 500;

const SourceMapFile = z.object({
  version: z.literal(3),
  sources: z.array(z.string().nullable()),
  mappings: z.string(),
});

export interface SourcePlacesOptions {
  /** Path of the bundle's source map. If it is missing, places of the bundle are shown. */
  readonly mapFile: string;
  /** Folder in which the bundle was made. The map's paths are relative to it. */
  readonly sourcesFrom: string;
  /** Name of the bundle's module in stacks. */
  readonly moduleName: string;
  /** Base folder of the shown paths. */
  readonly shownFrom: string;
}

interface Frame {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Translates places of the bundle into files and lines of the author. */
export class SourcePlaces {
  readonly #options: SourcePlacesOptions;
  readonly #place: RegExp;
  readonly #known = new Map<string, Frame>();
  #isMissing = false;

  constructor(options: SourcePlacesOptions) {
    this.#options = options;
    const name = options.moduleName.replaceAll(/[^\w/-]/g, String.raw`\$&`);
    this.#place = new RegExp(String.raw`(?<![^\s(])(?:[^\s()]*/)?${name}:(\d+):(\d+)`);
  }

  /**
   * Translates the frames of a stack, given in one line: `at a (worker.js:1:2) < at b (worker.js:3:4)`. Keeps the first
   * frame and those in the author's files.
   */
  translate(at: string): string {
    const texts = at.split(" < ");
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#learn(texts.filter((text) => !this.#known.has(text)));
    if (this.#isMissing) return texts.slice(0, SHOWN).join(" < ");
    const frames = texts.map((text) => this.#known.get(text) ?? { text, isOwn: false });
    const [first, ...rest] = frames;
    const own = rest.filter(({ isOwn }) => isOwn);
    const others = rest.filter(({ isOwn }) => !isOwn);
    const shown = new Set(
      [first, ...own, ...(own.length === 0 && first?.isOwn === false ? others : [])].slice(0, SHOWN),
    );
    return frames
      .filter((frame) => shown.has(frame))
      .map(({ text }) => text)
      .join(" < ");
  }

  /** Reads the map once for all these frames. */
  #learn(texts: readonly string[]): void {
    const inBundle = texts.flatMap((text) => {
      const match = this.#place.exec(text);
      if (match === null) return [];
      // V8 counts columns from 1, source maps from 0.
      return [{ text, place: match[0], line: Number(match[1]), column: Number(match[2]) - 1 }];
    });
    if (inBundle.length === 0) return;
    const map = this.#load();
    if (map === undefined) return;
    for (const [index, found] of findSources(map.mappings, inBundle).entries()) {
      const frame = inBundle[index];
      if (frame === undefined) continue;
      const source = found === undefined ? undefined : map.sources[found.source];
      if (found === undefined || typeof source !== "string") {
        this.#known.set(frame.text, { text: frame.text, isOwn: false });
        continue;
      }
      const file = path.relative(this.#options.shownFrom, path.resolve(this.#options.sourcesFrom, source));
      this.#known.set(frame.text, {
        text: frame.text.replace(frame.place, () => `${file}:${found.line}:${found.column + 1}`),
        isOwn: !file.split(path.sep).includes("node_modules"),
      });
    }
  }

  #load(): z.infer<typeof SourceMapFile> | undefined {
    if (this.#isMissing) return undefined;
    try {
      return SourceMapFile.parse(JSON.parse(readFileSync(this.#options.mapFile, "utf8")));
    } catch {
      // The map is missing or cannot be read. Places of the bundle are better than none.
      this.#isMissing = true;
      return undefined;
    }
  }
}

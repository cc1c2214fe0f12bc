import { readFileSync } from "node:fs";
import path from "node:path";
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { z } from "zod";

/** Most places of a stack in a line: the first one, and those in the author's files. */
const SHOWN = 3;

/** Number of frames to remember, so that a repeated failure needs the map only once. */
const MOST_KNOWN = 500;

/** Time without a failure after which the map is dropped, in milliseconds. A bot's map takes about 100 MB of memory. */
const REST_MS = 60_000;

const SourceMapFile = z.object({
  version: z.literal(3),
  sources: z.array(z.string().nullable()),
  names: z.array(z.string()),
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
  #map: TraceMap | undefined;
  #isMissing = false;
  #release: NodeJS.Timeout | undefined;

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
    const frames = at.split(" < ").map((frame) => this.#translated(frame));
    const [first, ...rest] = frames;
    if (first === undefined || this.#isMissing) return at.split(" < ").slice(0, SHOWN).join(" < ");
    const own = rest.filter(({ isOwn }) => isOwn);
    const others = rest.filter(({ isOwn }) => !isOwn);
    const shown = new Set(
      [first, ...own, ...(own.length === 0 && !first.isOwn ? others : [])].slice(0, SHOWN),
    );
    return frames
      .filter((frame) => shown.has(frame))
      .map(({ text }) => text)
      .join(" < ");
  }

  #translated(frame: string): Frame {
    const known = this.#known.get(frame);
    if (known !== undefined) return known;
    const found = this.#find(frame);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(frame, found);
    return found;
  }

  #find(frame: string): Frame {
    const match = this.#place.exec(frame);
    const map = match === null ? undefined : this.#load();
    if (match === null || map === undefined) return { text: frame, isOwn: false };
    const { source, line, column } = originalPositionFor(map, {
      line: Number(match[1]),
      // V8 counts columns from 1, source maps from 0.
      column: Number(match[2]) - 1,
    });
    if (source === null) return { text: frame, isOwn: false };
    const file = path.relative(this.#options.shownFrom, path.resolve(this.#options.sourcesFrom, source));
    return {
      text: frame.replace(match[0], () => `${file}:${line}:${column + 1}`),
      isOwn: !file.split(path.sep).includes("node_modules"),
    };
  }

  #load(): TraceMap | undefined {
    if (this.#isMissing) return undefined;
    clearTimeout(this.#release);
    this.#release = setTimeout(() => (this.#map = undefined), REST_MS).unref();
    if (this.#map !== undefined) return this.#map;
    try {
      this.#map = new TraceMap(SourceMapFile.parse(JSON.parse(readFileSync(this.#options.mapFile, "utf8"))));
    } catch {
      // The map is missing or cannot be read. Places of the bundle are better than none.
      this.#isMissing = true;
    }
    return this.#map;
  }
}

import { readFileSync } from "node:fs";
import path from "node:path";
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";
import { z } from "zod";

/** The places of a stack that a line shows: the first one, and those of the author. */
const SHOWN = 3;

/** Frames whose place is remembered, so that a failure that repeats needs the map once. */
const MOST_KNOWN = 500;

/** A map of a bot takes about 100 MB of memory once it is read: it is let go when nothing has failed for so long. */
const REST_MS = 60_000;

const SourceMapFile = z.object({
  version: z.literal(3),
  sources: z.array(z.string().nullable()),
  names: z.array(z.string()),
  mappings: z.string(),
});

export interface SourcePlacesOptions {
  /** The bundle's source map. Where there is none, places stay those of the bundle. */
  readonly mapFile: string;
  /** The bundle's folder at its making, which the map's paths are relative to. */
  readonly sourcesFrom: string;
  /** The name of the bundle's module, as stacks have it. */
  readonly moduleName: string;
  /** The folder that shown paths are relative to. */
  readonly shownFrom: string;
}

interface Frame {
  readonly text: string;
  readonly isOwn: boolean;
}

/** Turns places of the bundle into files and lines of those who wrote them. */
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

  /** The frames of a stack in one line, `at a (worker.js:1:2) < at b (worker.js:3:4)`, the author's among them first. */
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
      // There is none, or it cannot be read: the places of the bundle are better than nothing.
      this.#isMissing = true;
    }
    return this.#map;
  }
}

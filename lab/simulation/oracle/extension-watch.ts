import type { Life } from "../machine/life.ts";
import type { ApprovalWatch } from "./approval-watch.ts";
import type { Plan } from "../plan/plan.ts";
import type { Invariant } from "./contract.ts";

/** The file that has one line for each effect of an extension's tool. */
export const EFFECTS = "/effects.txt";

/** Counts that prove that these cases occur. */
export interface ExtensionFigures {
  /** Effects of tools of extensions. */
  extensionEffects: number;
  /** Hooks of extensions for which a turn has waited, or that were begun beside it, and those that have failed. */
  extensionHooks: number;
  extensionHooksFailed: number;
}

export const NO_EXTENSIONS: Readonly<ExtensionFigures> = {
  extensionEffects: 0,
  extensionHooks: 0,
  extensionHooksFailed: 0,
};

export function extensionRows(figures: ExtensionFigures): readonly (readonly [string, number])[] {
  return [
    ["effects of extensions", figures.extensionEffects],
    ["hooks of extensions", figures.extensionHooks],
    ["of these failed", figures.extensionHooksFailed],
  ];
}

export interface ExtensionWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
  readonly approvals: Pick<ApprovalWatch, "runs">;
}

/**
 * Knows the file in which tools of extensions have their effects. Each effect is there once, only if people have agreed,
 * and no change takes away what another one has written (I9). No hook ends a turn.
 */
export class ExtensionWatch {
  readonly figures: ExtensionFigures = { ...NO_EXTENSIONS };
  readonly #options: ExtensionWatchOptions;
  readonly #seen = new Set<string>();

  constructor(options: ExtensionWatchOptions) {
    this.#options = options;
  }

  /** Whether the bot has extensions. */
  get isPlanned(): boolean {
    return this.#options.items.some(({ kind }) => kind === "extension");
  }

  /** Whether the action for a message is the tool of an extension. */
  acts(token: string): boolean {
    return this.#options.items.some((item) => item.kind === "extension" && item.token === token);
  }

  /** The content of the file, as it is stored. */
  shows(content: string, life: Life): void {
    const { approvals, fail } = this.#options;
    const lines = linesOf(content);
    const twice = lines.find((line, index) => lines.indexOf(line) !== index);
    if (twice !== undefined) fail("I9", `${twice} has happened twice`);
    for (const effect of lines) {
      if (this.#seen.has(effect)) continue;
      this.#seen.add(effect);
      this.figures.extensionEffects += 1;
      approvals.runs({ effect, size: undefined }, life);
    }
  }

  /** A run of an extension's code changes the file. */
  changes(before: string, next: string): void {
    const after = linesOf(next);
    const lost = linesOf(before).find((line) => !after.includes(line));
    if (lost !== undefined) this.#options.fail("I9", `another change takes ${lost} away`);
  }

  /** A turn has called a hook. It goes on whatever the hook does. */
  hooked(name: string, waitedMs: number, error: unknown): void {
    const { fail } = this.#options;
    this.figures.extensionHooks += 1;
    if (error !== undefined) fail("I9", `a hook of an extension ends a turn: ${name}`);
    if (waitedMs > MOST_WAIT_MS)
      fail("I9", `a hook of an extension holds a turn up: ${name}, ${waitedMs} ms`);
  }

  hookFailed(): void {
    this.figures.extensionHooksFailed += 1;
  }
}

/** A turn waits so long for the hooks of all extensions before it. */
const MOST_WAIT_MS = 10_000;

function linesOf(content: string): readonly string[] {
  return content.split("\n").filter((line) => line !== "");
}

import { whole } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import type { SandboxLimit } from "./executor.ts";

/** Most that one run may take. */
export interface SandboxLimits {
  /**
   * Steps of the machine from one awaited tool to the next. A step is a call or a turn of a loop, in the code or in the
   * engine. The default takes at most about 100 ms, and an ordinary loop some 250,000 turns.
   *
   * @default 4_000_000
   */
  readonly ticks?: number;
  /** Milliseconds in all, with the time in which tools work. A run that begins again counts from zero. @default 60_000 */
  readonly timeoutMs?: number;
  /** Bytes of memory, from 17 MiB, of which the engine takes 1. @default 33_554_432 */
  readonly memoryBytes?: number;
  /** Bytes of the stack. @default 262_144 */
  readonly stackBytes?: number;
  /** Calls of tools. @default 1_000 */
  readonly calls?: number;
  /** Characters of the result and of all lines of `console` together. @default 500_000 */
  readonly outputBytes?: number;
}

export const PAGE_BYTES = 65_536;
/** Pages of memory that the engine begins with. */
export const FIRST_PAGES = 256;

export const DEFAULT_LIMITS: Required<SandboxLimits> = {
  ticks: 4_000_000,
  timeoutMs: 60_000,
  memoryBytes: 512 * PAGE_BYTES,
  stackBytes: 256 * 1024,
  calls: 1_000,
  outputBytes: 500_000,
};

export const LIMIT_RULES: OptionRules<SandboxLimits> = {
  ticks: whole(10_000, 2_000_000_000),
  timeoutMs: whole(1),
  memoryBytes: whole((FIRST_PAGES + 16) * PAGE_BYTES, 128 * 1024 * 1024),
  stackBytes: whole(16_384, 1024 * 1024),
  calls: whole(0),
  outputBytes: whole(1),
};

/** Returns the words about a limit that a model reads. */
export function limitError(limit: SandboxLimit, limits: Required<SandboxLimits>): string {
  switch (limit) {
    case "ticks":
      return "The code computed for too long between two awaits, so it was ended. Give it less data, or split the work into several runs.";
    case "timeoutMs":
      return `The code took longer than ${limits.timeoutMs} ms with its tools, so it was ended. Split the work into several runs.`;
    case "memoryBytes":
      return `The code needed more than ${Math.floor(limits.memoryBytes / (1024 * 1024))} MiB of memory, so it was ended. Keep less data at once.`;
    case "stackBytes":
      return "The code nested its calls or its data too deep, so it was ended. Use a loop instead of recursion.";
    case "calls":
      return `The code made more than ${limits.calls} calls of tools, so it was ended. Use tools that take lists.`;
    case "outputBytes":
      return `The code returned and logged more than ${limits.outputBytes} characters, so it was ended. Return a summary.`;
    default:
      return limit satisfies never;
  }
}

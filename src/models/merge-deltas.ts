import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Clock, Timer } from "../core/base/deps.ts";
import { mergeWindowMs } from "./merge-window.ts";

type Delta = Extract<
  LanguageModelV4StreamPart,
  { type: "text-delta" | "reasoning-delta" | "tool-input-delta" }
>;

export interface DeltaMerger {
  push(part: LanguageModelV4StreamPart): void;
  /** Emits the held text. Call it when the stream ends, for whatever reason. */
  flush(): void;
}

/**
 * Joins deltas of the same block within a time window, because each part costs CPU in every later stage. Nothing is
 * lost: the parts keep their order, and the joined text is the same. The window is short after a block's first part and
 * grows up to `mergeMs`.
 *
 * - The first delta of a block, and any delta after a silent window, passes at once.
 * - A held delta is emitted one window after the one before it, or before the next part of another kind or block.
 * - A delta with metadata of its provider (a signature) is never joined.
 */
export function createDeltaMerger(options: {
  readonly clock: Clock;
  readonly mergeMs: number;
  readonly emit: (part: LanguageModelV4StreamPart) => void;
}): DeltaMerger {
  const { clock, mergeMs, emit } = options;
  let held: Delta | undefined;
  let timer: Timer;
  /** The block of the last emitted part, and the time of that part. */
  let block:
    | { readonly type: Delta["type"]; readonly id: string; emittedAt: number; pieces: number }
    | undefined;

  function flush(): void {
    if (timer !== undefined) clock.clearTimeout(timer);
    timer = undefined;
    if (held === undefined) return;
    const part = held;
    held = undefined;
    if (block !== undefined) {
      block.emittedAt = clock.now();
      block.pieces += 1;
    }
    emit(part);
  }

  function push(part: LanguageModelV4StreamPart): void {
    if (!isDelta(part) || part.providerMetadata !== undefined || mergeMs <= 0) {
      flush();
      block = undefined;
      emit(part);
      return;
    }
    if (block === undefined || block.type !== part.type || block.id !== part.id) {
      flush();
      block = { type: part.type, id: part.id, emittedAt: clock.now(), pieces: 1 };
      emit(part);
      return;
    }
    if (held !== undefined) {
      held = { ...held, delta: held.delta + part.delta };
      return;
    }
    const waitMs = block.emittedAt + mergeWindowMs(block.pieces, mergeMs) - clock.now();
    held = part;
    if (waitMs <= 0) flush();
    else timer = clock.setTimeout(flush, waitMs);
  }

  return { push, flush };
}

function isDelta(part: LanguageModelV4StreamPart): part is Delta {
  return part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "tool-input-delta";
}

import type { ModelLimits } from "../model/model-limits.ts";
import type { TurnConfig } from "../hooks.ts";

type Timeouts = Pick<TurnConfig, "timeout" | "chatStreamStallTimeoutMs">;

/** Returns the time limits of the next model call of a turn. */
export function modelLimits(config: Timeouts, turnBeganAt: number, now: number): ModelLimits {
  const { chunkMs, firstChunkMs, stepMs, totalMs } = partsOf(config);
  const stallTimeoutMs = config.chatStreamStallTimeoutMs ?? chunkMs;
  const endsAt = earliest(
    stepMs === undefined ? undefined : now + stepMs,
    totalMs === undefined ? undefined : turnBeganAt + totalMs,
  );
  return {
    ...(stallTimeoutMs !== undefined && { stallTimeoutMs }),
    ...(firstChunkMs !== undefined && { firstChunkTimeoutMs: firstChunkMs }),
    ...(endsAt !== undefined && { endsAt }),
  };
}

/** Returns the longest time of a tool call that begins now, in milliseconds. Undefined for no limit. */
export function toolLimitMs(
  config: Timeouts,
  toolName: string,
  turnBeganAt: number,
  now: number,
): number | undefined {
  const { toolMs, tools, totalMs } = partsOf(config);
  // At least a millisecond, so that the tool is asked and the model hears of it.
  const leftMs = totalMs === undefined ? undefined : Math.max(1, turnBeganAt + totalMs - now);
  return earliest(tools?.[`${toolName}Ms`] ?? toolMs, leftMs);
}

function partsOf({ timeout }: Timeouts): Exclude<TurnConfig["timeout"], number | undefined> {
  return typeof timeout === "number" ? { totalMs: timeout } : (timeout ?? {});
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

import { sha256 } from "../../core/sha256.ts";
import type { CheckedTask } from "./check-tasks.ts";

/** Returns the revision of a task: another one whenever anything about it changes that people may have agreed to. */
export async function revisionOf({ metadata, rule, work, zone }: CheckedTask): Promise<string> {
  const { kind } = work;
  const told =
    kind === "prompt"
      ? [work.prompt, work.fanOut, typeof work.deliverTo === "function" ? "function" : work.deliverTo]
      : [];
  const hash = await sha256(JSON.stringify([kind, rule, zone, metadata, told]));
  return hash.slice(0, 16);
}

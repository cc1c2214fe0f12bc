import type { Think } from "../../../src/index.ts";

export interface Killer {
  /** Called by each object before it does anything. */
  readonly arm: (agent: Think) => void;
  /** Whether the object has died. */
  readonly hasStruck: () => boolean;
  /** Number of times that the object has started. */
  readonly lives: () => number;
}

/**
 * Ends the object of the conversation before or after one of its writes that match, once.
 *
 * @param counts whether writes count now. @default all do
 */
export function killerAt(
  write: RegExp | readonly [RegExp, number],
  when: "before" | "after",
  counts: () => boolean = () => true,
): Killer {
  const [pattern, wanted] = write instanceof RegExp ? [write, 1] : write;
  let left: number = wanted;
  let struck = false;
  let lives = 0;
  return {
    lives: () => lives,
    hasStruck: () => struck,
    arm: (agent) => {
      if (!agent.name.includes("thread:")) return;
      lives += 1;
      const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
      const { sql } = ctx.storage;
      const exec = sql.exec.bind(sql);
      const watched = (...call: Parameters<typeof exec>): ReturnType<typeof exec> => {
        if (!counts() || !pattern.test(call[0])) return exec(...call);
        left -= 1;
        if (left !== 0) return exec(...call);
        const kill = (): void => {
          struck = true;
          ctx.abort("killed by a test");
        };
        if (when === "before") {
          kill();
          throw new Error("killed by a test");
        }
        const rows = exec(...call);
        // The process dies as soon as the write is durable.
        void ctx.storage.sync().then(kill);
        return rows;
      };
      Object.defineProperty(sql, "exec", { value: watched, configurable: true });
    },
  };
}

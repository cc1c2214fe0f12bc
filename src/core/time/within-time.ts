import type { Clock } from "../base/deps.ts";
import { SwitchboardError } from "../base/errors.ts";
import { isThenable } from "../base/is-thenable.ts";

/**
 * Waits for `work`, at most `limitMs`. The limit does not end the work itself; its later outcome is ignored.
 *
 * @throws {SwitchboardError} `took-too-long` after `limitMs`
 */
export async function withinTime<T>(
  clock: Clock,
  limitMs: number,
  work: T | Promise<T>,
  name: string,
): Promise<T> {
  if (!isThenable(work)) return work;
  const limit = Promise.withResolvers<never>();
  const timer = clock.setTimeout(
    () => limit.reject(new SwitchboardError("took-too-long", `${name} took longer than ${limitMs} ms.`)),
    limitMs,
  );
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clock.clearTimeout(timer);
  }
}

import type { Log, LogFields } from "../core/base/log.ts";

/**
 * Returns a log that writes each `info` line when everything that its object has written so far is durable, because the
 * line speaks of it. Nothing waits for the log. Warnings and errors are written at once.
 *
 * If the storage does not take the writes, the lines are left out: they are not true. The object ends then, and its
 * callers log the failure.
 *
 * @param stored resolves when all writes so far are durable
 */
export function storedLog(log: Log, stored: () => Promise<void>): Log {
  let written: Promise<void> = Promise.resolve();
  const held = (inner: Log): Log => ({
    ...inner,
    info: (event: string, fields?: LogFields) => {
      written = Promise.all([stored(), written]).then(
        () => inner.info(event, fields),
        () => undefined,
      );
    },
    with: (fields) => held(inner.with(fields)),
  });
  return held(log);
}

import type { Log, LogFields } from "../core/base/log.ts";

/** Returns a log that also passes each line to an observer, whatever `LOG_LEVEL` is. */
export function observedLog(log: Log, observe: (event: string, fields: LogFields) => void): Log {
  const observed = (inner: Log, fixed: LogFields): Log => {
    const at =
      (level: "info" | "warn" | "error") =>
      (event: string, fields: LogFields = {}): void => {
        inner[level](event, fields);
        observe(event, { ...fixed, ...fields });
      };
    return {
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => observed(inner.with(fields), { ...fixed, ...fields }),
      reveal: inner.reveal,
    };
  };
  return observed(log, {});
}

import { createLog } from "../../src/core/base/log.ts";
import type { Log, LogFields } from "../../src/core/base/log.ts";

export interface RecordedLine {
  readonly event: string;
  /** All but the time and the level. */
  readonly fields: LogFields;
}

/** A log that keeps its lines. */
export function recordLog(): { readonly log: Log; readonly lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const log = createLog((_level, line) => {
    const { event, level: _, time: __, ...fields } = JSON.parse(line) as LogFields;
    lines.push({ event: String(event), fields });
  });
  return { log, lines };
}

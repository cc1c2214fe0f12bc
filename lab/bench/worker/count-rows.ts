import type { RowsWritten } from "../rows-written.ts";

let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
let finishedRows = 0;
let alarms = 0;
const patched = new WeakSet<object>();

/**
 * Counts `rowsWritten` of every statement that any object runs from now on, and alarms that are set. Counting keeps
 * cursors in memory: use it in a separate run, never in one that is timed.
 */
export function countRows(storage: DurableObjectStorage): void {
  patch(Object.getPrototypeOf(storage.sql) as SqlStorage, "exec", (cursor) => {
    cursors.push(cursor as SqlStorageCursor<Record<string, SqlStorageValue>>);
    if (cursors.length > 500) settle();
  });
  patch(Object.getPrototypeOf(storage) as DurableObjectStorage, "setAlarm", () => {
    alarms += 1;
  });
}

export function takeRowsWritten(): RowsWritten {
  settle();
  const taken = { rows: finishedRows, alarms };
  finishedRows = 0;
  alarms = 0;
  return taken;
}

/** A statement has run completely when the next one begins, so all older cursors are complete. */
function settle(): void {
  for (const cursor of cursors) finishedRows += cursor.rowsWritten;
  cursors = [];
}

function patch<Target extends object>(
  target: Target,
  name: keyof Target & string,
  onResult: (result: unknown) => void,
): void {
  if (patched.has(target)) return;
  patched.add(target);
  const original = target[name] as (...parameters: unknown[]) => unknown;
  Object.defineProperty(target, name, {
    configurable: true,
    value(this: Target, ...parameters: unknown[]): unknown {
      const result = original.apply(this, parameters);
      onResult(result);
      return result;
    },
  });
}

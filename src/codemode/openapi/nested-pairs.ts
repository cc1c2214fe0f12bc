import { isRecord } from "../../core/json/is-record.ts";

/** Writes a value as `name[key]=...`, however deep. */
export function nestedPairs(name: string, value: unknown): [string, string][] {
  if (!isRecord(value)) return value === undefined || value === null ? [] : [[name, textOf(value)]];
  return Object.entries(value).flatMap(([key, one]) =>
    nestedPairs(`${name}[${Array.isArray(value) ? "" : key}]`, one),
  );
}

/** Returns a value as it stands in a query or a form. */
export function textOf(value: unknown): string {
  return isRecord(value) ? JSON.stringify(value) : String(value);
}

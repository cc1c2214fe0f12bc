import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { LOG_EVENTS } from "./log-events.ts";
import { code, table } from "./markdown.ts";
import { readLogEvents } from "./read-log-events.ts";
import type { LoggedEvents } from "./read-log-events.ts";

/** Folders whose code writes lines of the log. */
const LOGGING = ["src", "delivery", "providers", "ops/serve/log"];

/** Returns the events that the product logs. */
export function loggedEvents(root: string): LoggedEvents {
  const files = LOGGING.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => path.join(root, folder, file)),
  );
  return readLogEvents(files.map((file) => readFileSync(file, "utf8")));
}

/** Returns the parts of the page about the log's events. */
export function logEventParts(logged: LoggedEvents): readonly string[] {
  const rows = LOG_EVENTS.map(({ events, meaning }) => {
    const levels = new Set(events.flatMap((event) => [...(logged.get(event) ?? [])]));
    return [events.map(code).join(", "), [...levels].join(", "), meaning];
  });
  return [
    "One line of JSON for each. [The log](../configuration.md#the-log) describes the fields that all lines share, and `LOG_LEVEL`.",
    table(["Event", "Level", "When"], rows),
    "The server's own lines are `serve.running`, `serve.stopping`, `serve.stopped` and `serve.output`.",
  ];
}

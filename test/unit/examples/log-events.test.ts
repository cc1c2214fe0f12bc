import path from "node:path";
import { describe, expect, it } from "vitest";
import { LOG_EVENTS } from "../../../scripts/reference/log-events.ts";
import { loggedEvents } from "../../../scripts/reference/log-pages.ts";
import { readLogEvents } from "../../../scripts/reference/read-log-events.ts";

const root = path.resolve(import.meta.dirname, "../../..");

describe("the list of log events", () => {
  it("has each event that the product logs, and no other", () => {
    const logged = [...loggedEvents(root).keys()];
    const listed = LOG_EVENTS.flatMap(({ events }) => events);
    expect(logged.length).toBeGreaterThan(20);
    expect(new Set(listed)).toEqual(new Set(logged));
    expect(listed.length).toBe(new Set(listed).size);
  });

  it("knows the level of each", () => {
    const source = `log.warn("a.b", { log }); this.#options.log.info(
      "a.b"); this.#write("error", "c.d", {}); this.#write(level, "e.f");`;
    expect(readLogEvents([source])).toEqual(
      new Map([
        ["a.b", new Set(["info", "warn"])],
        ["c.d", new Set(["error"])],
        ["e.f", new Set(["info", "warn", "error"])],
      ]),
    );
  });
});

import { describe, expect, it } from "vitest";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";

const minimal = {
  name: "bot",
  main: "worker.ts",
  compatibility_date: "2026-10-15",
  durable_objects: { bindings: [{ name: "AGENT", class_name: "Agent" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Agent"] }],
};

describe("worker configuration", () => {
  it("reads comments and trailing commas, and leaves strings alone", () => {
    const text = `{
      // a line, with a "quote"
      "name": "bot", /* a block, */ "main": "worker.ts",
      "compatibility_date": "2026-10-15",
      "vars": { "GREETING": "see http://x /* not */ // a comment, }", },
    }`;
    expect(parseWorkerConfig(text, "wrangler.jsonc").variables).toEqual({
      GREETING: "see http://x /* not */ // a comment, }",
    });
  });

  it("keeps the storage of a renamed class and drops a deleted one", () => {
    const config = parseWorkerConfig(
      JSON.stringify({
        ...minimal,
        durable_objects: { bindings: [{ name: "AGENT", class_name: "Better" }] },
        migrations: [
          { tag: "v1", new_sqlite_classes: ["Agent", "Old"], new_classes: ["Plain"] },
          { tag: "v2", renamed_classes: [{ from: "Agent", to: "Better" }], deleted_classes: ["Old"] },
        ],
      }),
      "wrangler.jsonc",
    );
    expect(config.classes).toEqual([
      { className: "Plain", uniqueKey: "bot-Plain", sqlite: false },
      { className: "Better", uniqueKey: "bot-Agent", sqlite: true },
    ]);
  });

  it("names the file and the field that is wrong", () => {
    expect(() => parseWorkerConfig("{", "wrangler.jsonc")).toThrow(/^wrangler\.jsonc is not valid JSON/);
    expect(() => parseWorkerConfig(JSON.stringify({ ...minimal, main: 3 }), "w.jsonc")).toThrow(
      /w\.jsonc.*main/,
    );
    expect(() => parseWorkerConfig(JSON.stringify({ ...minimal, migrations: [] }), "w.jsonc")).toThrow(
      /Agent.*new_sqlite_classes/,
    );
  });

  it("says what to change when no class has SQLite", () => {
    const migrations = [{ tag: "v1", new_classes: ["Agent"] }];
    expect(() => parseWorkerConfig(JSON.stringify({ ...minimal, migrations }), "w.jsonc")).toThrow(
      'w.jsonc creates Agent without SQLite, in which a bot keeps everything: rename "new_classes" in its migrations to "new_sqlite_classes".',
    );
  });

  it("says which bindings a local server cannot give", () => {
    expect(
      parseWorkerConfig(JSON.stringify({ ...minimal, ai: { binding: "AI" } }), "w.jsonc").unsupported,
    ).toEqual(["ai"]);
  });
});

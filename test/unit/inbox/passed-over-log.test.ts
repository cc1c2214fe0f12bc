import { describe, expect, it } from "vitest";
import { PassedOverLog } from "../../../src/inbox/passed-over-log.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const nameOf = (key: string, thread = "t:1") => ({ messenger: "telegram", chat: "1", thread, key });

function createRig() {
  const clock = createVirtualClock();
  const { lines, log } = recordLog();
  return { clock, fields: () => lines.map((line) => line.fields), log: new PassedOverLog({ clock, log }) };
}

describe("the log of passed-over events", () => {
  it("writes a few at once, and the others of their second in one line that names each", async () => {
    const { clock, fields, log } = createRig();
    for (const key of ["a", "b", "c", "d", "e"]) log.add(nameOf(key), "ignored: no mention");
    expect(fields()).toEqual(
      ["a", "b", "c"].map((key) => ({ ...nameOf(key), outcome: "ignored: no mention" })),
    );
    await clock.advance(1000);
    expect(fields().slice(3)).toEqual([
      {
        messenger: "telegram",
        chat: "1",
        thread: "t:1",
        keys: "d e",
        count: 2,
        outcome: "ignored: no mention",
      },
    ]);
  });

  it("names each event once, whatever the distance between them", async () => {
    const { clock, fields, log } = createRig();
    const keys = Array.from({ length: 450 }, (_, index) => `k${index}`);
    for (const [index, key] of keys.entries()) {
      log.add(nameOf(key, `t:${index % 2}`), index % 3 === 0 ? "ignored: a" : "ignored: b");
      if (index % 50 === 0) await clock.advance(index * 10);
    }
    await clock.advance(5000);
    const named = fields().flatMap(({ key, keys: several }) =>
      key === undefined ? String(several).split(" ") : [key],
    );
    expect(named).toHaveLength(keys.length);
    expect(new Set(named)).toEqual(new Set(keys));
    expect(fields().length).toBeLessThanOrEqual(120);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it("writes at once again after a quiet second", async () => {
    const { clock, fields, log } = createRig();
    log.add(nameOf("a"), "ignored: no mention");
    await clock.advance(1000);
    log.add(nameOf("b"), "ignored: no mention");
    expect(fields().map(({ key }) => key)).toEqual(["a", "b"]);
  });
});

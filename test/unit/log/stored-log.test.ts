import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { storedLog } from "../../../src/log/stored-log.ts";

function createRig() {
  const lines: unknown[] = [];
  const commits: PromiseWithResolvers<void>[] = [];
  const inner = createLog((_level, line) => lines.push((JSON.parse(line) as { event: string }).event));
  const log = storedLog(inner, () => {
    const commit = Promise.withResolvers<void>();
    commits.push(commit);
    return commit.promise;
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { commits, lines, log, settle };
}

it("writes a line when what was written before it is durable, in order", async () => {
  const { commits, lines, log, settle } = createRig();
  log.info("first");
  log.with({ chat: "1" }).info("second");
  commits[1]?.resolve();
  await settle();
  expect(lines).toEqual([]);
  commits[0]?.resolve();
  await settle();
  expect(lines).toEqual(["first", "second"]);
});

it("leaves out lines about what the storage did not take, and writes those of later commits", async () => {
  const { commits, lines, log, settle } = createRig();
  log.info("lost");
  log.info("kept");
  commits[0]?.reject(new Error("database or disk is full"));
  commits[1]?.resolve();
  await settle();
  expect(lines).toEqual(["kept"]);
});

it("writes warnings and errors at once", () => {
  const { lines, log } = createRig();
  log.warn("warning");
  log.with({ chat: "1" }).error("error");
  expect(lines).toEqual(["warning", "error"]);
});

import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { ExtensionHooks, HOOK_MS } from "../../../src/extensions/extension-hooks.ts";
import type { LoadedExtension } from "../../../src/extensions/loaded-extension.ts";
import type { Executor } from "../../../src/sandbox/index.ts";
import type { TurnContext } from "../../../src/turn/hooks.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const NEVER: Executor = { execute: () => new Promise(() => {}) };
const FAILS: Executor = { execute: async () => ({ result: undefined, error: "It fails." }) };

function extensions(...names: readonly string[]): LoadedExtension[] {
  return names.map((name) => ({
    manifest: { name, version: "1" },
    source: "({})",
    tools: [],
    hooks: ["beforeTurn", "onStepFinish"],
  }));
}

function createHooks(executor: Executor, loaded: readonly LoadedExtension[]) {
  const clock = createVirtualClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog((_level, line) => void lines.push(JSON.parse(line) as Record<string, unknown>));
  const hooks = new ExtensionHooks({
    clock,
    log,
    executor,
    parts: {} as never,
    extensions: () => loaded,
    maxSteps: () => 10,
    onIdle: () => undefined,
  });
  const turn = { system: "Prompt.", messages: [], model: "m", tools: {}, continuation: false };
  const beforeTurn = async () => hooks.wrap({}).beforeTurn?.(turn as unknown as TurnContext);
  const onStepFinish = () =>
    hooks.wrap({}).onStepFinish?.({ text: "", toolCalls: [], toolResults: [] } as never);
  return { beforeTurn, clock, lines, onStepFinish };
}

it("lets a turn begin without hooks that never end, at most ten seconds late", async () => {
  const { beforeTurn, clock, lines } = createHooks(NEVER, extensions("one", "two", "three"));
  const began = clock.now();
  let endedAt = 0;
  const config = beforeTurn().then((found) => {
    endedAt = clock.now();
    return found;
  });
  await clock.advance(60_000);
  expect(await config).toEqual({});
  expect(endedAt - began).toBeLessThanOrEqual(2 * HOOK_MS);
  expect(lines.map(({ code, extension }) => [extension, code])).toEqual([
    ["one", "took-too-long"],
    ["two", "took-too-long"],
  ]);
});

it("gives the hooks of an extension a rest of a minute after three failures, and then another try", async () => {
  const { beforeTurn, clock, lines } = createHooks(FAILS, extensions("one"));
  for (let turn = 1; turn <= 5; turn += 1) await beforeTurn();
  expect(lines).toHaveLength(3);
  await clock.advance(59_000);
  await beforeTurn();
  expect(lines).toHaveLength(3);
  await clock.advance(2_000);
  await beforeTurn();
  expect(lines).toHaveLength(4);
});

it("drops hooks when a hundred wait, and says so once", async () => {
  const { lines, onStepFinish } = createHooks(NEVER, extensions("one"));
  for (let step = 1; step <= 150; step += 1) await onStepFinish();
  expect(lines.map(({ code }) => code)).toEqual(["too-many"]);
});

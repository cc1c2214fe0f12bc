import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { CodePass } from "../../../src/codemode/code-pass.ts";
import type { PassEnd } from "../../../src/codemode/code-pass.ts";
import { CodeStore } from "../../../src/codemode/code-store.ts";
import type { CodeRun } from "../../../src/codemode/code-store.ts";
import type { Executor } from "../../../src/sandbox/executor.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

interface Call {
  readonly method: "tag" | "send";
  readonly to: string;
}

const RUN: CodeRun = {
  id: "run",
  runtime: "codemode",
  requestId: "turn",
  toolCallId: "call",
  code: "",
  state: "running",
  context: {},
  isResumed: false,
  resumedBy: undefined,
  result: undefined,
  error: undefined,
  logs: undefined,
  createdAt: 0,
  endedAt: undefined,
};

const named = ({ method, to }: Call): string => `mail.${method}({"to":"${to}"})`;

/** Code that makes calls one after the other, and may catch whatever they throw. */
function codeOf(calls: readonly Call[], catches: boolean): Executor {
  return {
    execute: async (_code, _providers, { connectors = [] } = {}) => {
      for (const { method, to } of calls) {
        try {
          await connectors[0]?.binding.callTool(method, { to });
        } catch (error) {
          if (!catches) return { result: undefined, error: String(error) };
        }
      }
      return { result: "done" };
    },
  };
}

/** One pass, in which the call at `waitsAt` asks a person. */
async function pass(
  store: CodeStore,
  executor: Executor,
  waitsAt?: number,
): Promise<{ readonly end: PassEnd; readonly made: readonly number[] }> {
  const made: number[] = [];
  const end = await new CodePass({
    run: RUN,
    store,
    clock: createVirtualClock(),
    executor,
    connectors: [{ name: "mail", methods: ["tag", "send"], rereads: new Set() }],
    signal: undefined,
    slowAfterMs: 1000,
    call: async ({ position }) => {
      if (position === waitsAt) return { waiting: { approvalId: "asked", message: "" } };
      made.push(position);
      return position;
    },
  }).run();
  // Calls of a dropped pass would come now.
  await new Promise((resolve) => setImmediate(resolve));
  return { end, made };
}

const call = fc.record({
  method: fc.constantFrom<Call["method"]>("tag", "send"),
  to: fc.constantFrom("ann", "bob"),
});

it("never replays other calls silently: the error names the call, and no recorded call is made again", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 6 }),
      fc.array(call, { maxLength: 6 }),
      fc.nat({ max: 5 }),
      fc.boolean(),
      async (first, kept, rest, asks, catches) => {
        const waitsAt = asks % first.length;
        const second = [...first.slice(0, kept), ...rest];
        const store = new CodeStore(createNodeDatabase());
        store.insert(RUN);
        const begun = await pass(store, codeOf(first, catches), waitsAt);
        expect(begun).toEqual({ end: { kind: "waits" }, made: [...Array(waitsAt).keys()] });
        store.changeCall({ run: RUN.id, position: waitsAt }, { state: "applied", result: "agreed" });

        const { end, made } = await pass(store, codeOf(second, catches));
        const recorded = first.slice(0, waitsAt + 1);
        const differs = recorded.findIndex((one, at) => {
          const now = second[at];
          return now === undefined || named(now) !== named(one);
        });
        if (differs === -1) {
          expect(end).toEqual({ kind: "ended", end: { result: "done" } });
          expect(made).toEqual([...second.keys()].slice(recorded.length));
          return;
        }
        expect(made).toEqual([]);
        const now = second[differs];
        const error = expect.stringContaining(`called ${named(recorded[differs] as Call)} there`) as string;
        expect(end).toEqual({ kind: "ended", end: { result: undefined, error } });
        if (now !== undefined) expect(JSON.stringify(end)).toContain(JSON.stringify(named(now)).slice(1, -1));
      },
    ),
  );
});

import { checkOptions } from "../core/json/check-options.ts";
import type { Rules } from "../core/json/check-options.ts";
import { systemDeps } from "../core/base/deps.ts";
import type { Deps } from "../core/base/deps.ts";
import type { ExecuteOptions, ExecuteResult, Executor, SandboxProvider } from "./executor.ts";
import { QuickJSRun } from "./quickjs-run.ts";
import { DEFAULT_LIMITS, LIMIT_RULES } from "./sandbox-limits.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { Slots } from "./slots.ts";

export interface QuickJSExecutorOptions {
  /** Most that one run may take. @default see `SandboxLimits` */
  readonly limits?: SandboxLimits;
  /** Its surroundings. @default those of the runtime */
  readonly deps?: Pick<Deps, "clock" | "newId">;
}

const OPTIONS: Rules = { limits: LIMIT_RULES, deps: true };

/** Most runs in one isolate at once. Others wait. */
const MOST_RUNS = 2;
const slots = new Slots(MOST_RUNS);

/**
 * Runs JavaScript in QuickJS, inside of the object. Each run has a new instance with memory of its own. There is no
 * network, no timer and no import. `Date` stands still at the start of the run.
 *
 * @throws {ConfigurationError} `sandbox-option`
 * @example
 * const executor = createQuickJSExecutor({ limits: { timeoutMs: 10_000 } });
 * const { result } = await executor.execute("async () => 6 * 7", []);
 */
export function createQuickJSExecutor(options: QuickJSExecutorOptions = {}): Executor {
  checkOptions(options, OPTIONS as never, { owner: "createQuickJSExecutor", code: "sandbox-option" });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { clock, newId } = options.deps ?? systemDeps;
  return {
    async execute(
      code,
      providersOrFns,
      { connectors = [], signal }: ExecuteOptions = {},
    ): Promise<ExecuteResult> {
      const providers = Array.isArray(providersOrFns)
        ? providersOrFns
        : [{ name: "codemode", fns: providersOrFns }];
      const problem = nameProblem([...providers, ...connectors].map(({ name }) => name));
      if (problem !== undefined) return { result: undefined, error: problem };
      const run = new QuickJSRun({ code, providers, connectors, signal, limits, clock, seed: newId() });
      return slots.hold(clock, () => run.execute());
    },
  };
}

/** Names that the code needs itself. */
const RESERVED = new Set(["console", "Promise", "Error", "JSON", "Object", "Date", "Math", "globalThis"]);

function nameProblem(names: readonly SandboxProvider["name"][]): string | undefined {
  const wrong = names.find((name) => !/^[a-zA-Z_$][\w$]*$/.test(name));
  if (wrong !== undefined) return `The name "${wrong}" is no JavaScript name.`;
  const reserved = names.find((name) => RESERVED.has(name));
  if (reserved !== undefined) return `The name "${reserved}" is taken by the language.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `The name "${twice}" is used twice.`;
}

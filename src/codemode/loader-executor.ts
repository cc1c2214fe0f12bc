import { ConfigurationError } from "../core/base/errors.ts";
import type { Executor } from "../sandbox/executor.ts";

/** A binding of `worker_loaders`. */
export interface WorkerLoaderBinding {
  load(code: never): unknown;
}

/**
 * Runs code in Workers of their own: `DynamicWorkerExecutor` of `@cloudflare/codemode`, which the bot installs. An endless
 * loop ends only on Cloudflare, and there by its limits: a local `workerd` stands still.
 */
export function loaderExecutor(loader: WorkerLoaderBinding): Executor {
  // Objects may share the executor. None waits for the import of another one, which may have died meanwhile.
  let loaded: Awaited<ReturnType<typeof load>> | undefined;
  return {
    execute: async (code, providers, options) => {
      const { executor, normalizeCode } = loaded ?? (await load(loader));
      loaded = { executor, normalizeCode };
      try {
        const {
          error,
          logs = [],
          result,
        } = await executor.execute(guarded(normalizeCode(code)), providers, options);
        return { result, ...(error !== undefined && { error }), ...(logs.length > 0 && { logs }) };
      } catch (error) {
        // Code that is no JavaScript.
        return { result: undefined, error: startError(error) };
      }
    },
  };
}

async function load(loader: WorkerLoaderBinding) {
  const { DynamicWorkerExecutor, normalizeCode } = await import("@cloudflare/codemode").catch(missing);
  return { executor: new DynamicWorkerExecutor({ loader: loader as never }), normalizeCode };
}

/** The executor takes a thrown value without a message for no failure at all. */
function guarded(source: string): string {
  return `async () => {
  try {
    return await (${source.replace(/;\s*$/, "")}
)();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(typeof error === "string" ? error : JSON.stringify(error) ?? String(error));
    throw new Error(error.name === "Error" ? error.message || "The code failed." : error.name + ": " + error.message);
  }
}`;
}

/** The runtime's words have the error of the code in them, and where it was. */
function startError(error: unknown): string {
  const words = error instanceof Error ? /Uncaught (\w*Error: .*)/.exec(error.message)?.[1] : undefined;
  return words ?? "The code could not be started.";
}

function missing(): never {
  throw new ConfigurationError(
    "codemode-package",
    "Code that runs in a worker_loaders binding needs the package @cloudflare/codemode: npm install @cloudflare/codemode",
  );
}

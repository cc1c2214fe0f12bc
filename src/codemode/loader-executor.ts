import { ConfigurationError } from "../core/errors.ts";
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
  let made: Promise<Executor> | undefined;
  const load = async (): Promise<Executor> => {
    const { DynamicWorkerExecutor } = await import("@cloudflare/codemode").catch(missing);
    return new DynamicWorkerExecutor({ loader: loader as never });
  };
  return {
    execute: async (...run) => {
      made ??= load();
      return (await made).execute(...run);
    },
  };
}

function missing(): never {
  throw new ConfigurationError(
    "codemode-package",
    "Code that runs in a worker_loaders binding needs the package @cloudflare/codemode: npm install @cloudflare/codemode",
  );
}

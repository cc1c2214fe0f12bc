import type { Executor } from "../../../src/sandbox/executor.ts";

/** Runs code of the simulation itself in the host: it is not hostile, and a thousand times faster than a sandbox. */
export function createPlainExecutor(): Executor {
  return {
    async execute(code, providersOrFns, { connectors = [], signal } = {}) {
      const providers = Array.isArray(providersOrFns) ? providersOrFns : [];
      const called = connectors.map(
        ({ binding, name }) =>
          [
            name,
            new Proxy(
              {},
              { get: (_of, method) => (args: unknown) => binding.callTool(String(method), args) },
            ),
          ] as const,
      );
      const given = [...called, ...providers.map(({ fns, name }) => [name, fns] as const)];
      const dropped = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => dropped.reject(new Error("The run was dropped.")), {
        once: true,
      });
      try {
        // oxlint-disable-next-line typescript/no-implied-eval -- it is the simulation's own code
        const run = new Function(...given.map(([name]) => name), `return (${code})();`) as (
          ...objects: readonly object[]
        ) => Promise<unknown>;
        const result = await Promise.race([run(...given.map(([, object]) => object)), dropped.promise]);
        return { result: JSON.parse(JSON.stringify(result ?? null)) as unknown };
      } catch (error) {
        return { result: undefined, error: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

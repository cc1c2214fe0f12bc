import { env } from "cloudflare:workers";
import type { TestObject } from "./worker.ts";

/** The bindings of `wrangler.jsonc` beside this file. Not the global `Env`, which the examples share. */
interface TestEnv {
  readonly TestObject: DurableObjectNamespace<TestObject>;
}

export const testEnv = env as unknown as TestEnv;

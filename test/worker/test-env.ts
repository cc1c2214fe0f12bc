import { env } from "cloudflare:workers";
import type { BareBot, ScriptedBot, TestObject } from "./worker.ts";

/** The bindings of `wrangler.jsonc` beside this file. Not the global `Env`, which the examples share. */
interface TestEnv {
  readonly TestObject: DurableObjectNamespace<TestObject>;
  readonly ScriptedBot: DurableObjectNamespace<ScriptedBot>;
  readonly BareBot: DurableObjectNamespace<BareBot>;
}

export const testEnv = env as unknown as TestEnv;

import { env } from "cloudflare:workers";
import type { WorkerLoaderBinding } from "../../src/codemode/index.ts";
import type { BareBot, ChildBot, OtherBot, RuntimeBot, ScriptedBot, TestObject } from "./worker.ts";

/** The bindings of `wrangler.jsonc` beside this file. Not the global `Env`, which the examples share. */
interface TestEnv {
  readonly LOADER: WorkerLoaderBinding;
  readonly FILES: R2Bucket;
  readonly TestObject: DurableObjectNamespace<TestObject>;
  readonly ScriptedBot: DurableObjectNamespace<ScriptedBot>;
  readonly OtherBot: DurableObjectNamespace<OtherBot>;
  readonly ChildBot: DurableObjectNamespace<ChildBot>;
  readonly BareBot: DurableObjectNamespace<BareBot>;
  readonly RuntimeBot: DurableObjectNamespace<RuntimeBot>;
}

export const testEnv = env as unknown as TestEnv;

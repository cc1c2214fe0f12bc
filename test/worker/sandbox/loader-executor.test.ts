import { loaderExecutor } from "../../../src/codemode/index.ts";
import { testEnv } from "../test-env.ts";
import { executorContract } from "./executor-contract.ts";

executorContract("loaderExecutor", () => loaderExecutor(testEnv.LOADER));

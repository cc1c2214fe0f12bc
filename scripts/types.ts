/**
 * `npm run types`: checks the types of the product and of its tools. One thread each, because the compiler's threads would
 * each work out the same types.
 */
import { reportSteps, runStep, tool } from "./run-step.ts";

const projects = { product: "tsconfig.worker.json", tools: "tsconfig.node.json" };
const results = await Promise.all(
  Object.entries(projects).map(([name, file]) =>
    runStep(`types of the ${name}`, tool("tsc"), ["-p", file, "--singleThreaded"]),
  ),
);
if (!reportSteps(results)) process.exitCode = 1;

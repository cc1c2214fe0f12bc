import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./run-step.ts";
import { bundleWorker } from "../ops/serve/worker-bundle.ts";
import type { WorkerConfig } from "../ops/serve/worker-config.ts";

/** The lines that bring each feature into the class `MyBot`. */
const FEATURES = {
  mcp: `import { mcpServer } from "switchboard/mcp"; MyBot.mcpServer = mcpServer();`,
  "mcp-client": `import { mcpClient } from "switchboard/mcp-client"; MyBot.mcpClient = mcpClient({ servers: {} });`,
  telemetry: `import { telemetry } from "switchboard/telemetry"; MyBot.telemetry = telemetry();`,
  memory: `import { memory } from "switchboard/memory"; MyBot.memory = memory();`,
  "agent-tools": `import { agentTool } from "switchboard/agent-tools"; MyBot.used = [agentTool];`,
  workspace: `import { workspace } from "switchboard/workspace"; MyBot.workspace = workspace();`,
  "workspace/bash": `import { bash } from "switchboard/workspace/bash"; MyBot.used = [bash];`,
  skills: `import { skills } from "switchboard/skills"; MyBot.skills = skills(); MyBot.used = [skills.runner];`,
  codemode: `import * as all from "switchboard/codemode"; MyBot.codemode = all.codemode(); MyBot.used = [all.createCodemodeRuntime, all.ActionConnector];`,
  OpenApiConnector: `import { OpenApiConnector } from "switchboard/codemode"; MyBot.used = [OpenApiConnector];`,
  undo: `import { undo } from "switchboard/undo"; MyBot.undo = undo();`,
} as const satisfies Record<string, string>;

/** Returns the gzipped KiB that each feature adds to a bot, with all files of its own. */
export async function featureSizes(
  configFile: string,
  config: WorkerConfig,
): Promise<readonly (readonly [name: string, kiB: number])[]> {
  const worker = await readFile(path.join(path.dirname(configFile), config.main), "utf8");
  const folder = await mkdtemp(path.join(root, "examples/.feature-sizes-"));
  const sizeWith = async (lines: string): Promise<number> => {
    // The features are members of the class, and some lines use a member that it does not have.
    await writeFile(path.join(folder, config.main), `// @ts-nocheck\n${worker}\n${lines}\n`);
    const { files } = await bundleWorker(path.join(folder, "wrangler.jsonc"), config);
    const sent = [...files].filter(([name]) => !name.endsWith(".map"));
    return sent.reduce((sum, [, bytes]) => sum + gzipSync(bytes).length, 0);
  };
  try {
    const plain = await sizeWith("");
    const sizes: [string, number][] = [];
    for (const [name, lines] of Object.entries(FEATURES))
      sizes.push([name, Math.round((await sizeWith(lines)) / 1024 - plain / 1024)]);
    return sizes;
  } finally {
    await rm(folder, { recursive: true });
  }
}

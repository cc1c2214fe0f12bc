import path from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** The files and packages of a bot. */
async function partsOf(bot: string): Promise<readonly string[]> {
  const { metafile } = await build({
    stdin: { contents: bot, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    tsconfig: path.join(root, "tsconfig.base.json"),
    alias: {
      "switchboard/memory": "./src/memory/index.ts",
      "switchboard/agent-tools": "./src/agent-tools/index.ts",
      "switchboard/mcp-client": "./src/mcp-client/index.ts",
      "switchboard/codemode": "./src/codemode/index.ts",
      "switchboard/skills": "./src/skills/index.ts",
      "switchboard/undo": "./src/undo/index.ts",
      "switchboard/extensions": "./src/extensions/index.ts",
      "switchboard/workspace/bash": "./src/workspace/bash/index.ts",
      "switchboard/workspace": "./src/workspace/index.ts",
      "switchboard/mcp": "./src/mcp/index.ts",
      "switchboard/telemetry": "./src/telemetry/index.ts",
      switchboard: "./src/index.ts",
    },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
    external: ["cloudflare:*", "node:*", "*.wasm"],
  });
  const packages = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map((one) => one.path));
  return [...Object.keys(metafile.inputs), ...packages].filter(
    (name) =>
      /^src\/(?:mcp(-client)?|telemetry|memory|workspace|agent-tools|skills|sandbox|codemode|undo|extensions)\//.test(
        name,
      ) ||
      name.startsWith("@modelcontextprotocol/") ||
      name.startsWith("just-bash"),
  );
}

it("is in the bundle only of a bot that imports it", async () => {
  const smallest = 'import { Think, createWorker } from "switchboard";';
  const without = `${smallest} class Bot extends Think {} export default createWorker(Bot);`;
  expect(await partsOf(without)).toEqual([]);
  const parts = await partsOf(
    `${smallest} import { mcpServer } from "switchboard/mcp";
     class Bot extends Think { static mcpServer = mcpServer({ app: "shop" }); } export default createWorker(Bot);`,
  );
  expect(parts).toContain("src/mcp/mcp-feature.ts");
  expect(parts).toContain("@modelcontextprotocol/server");
  expect(parts.filter((name) => name.includes("client"))).toEqual([]);
  const tools = await partsOf(
    `${smallest} import { mcpClient } from "switchboard/mcp-client";
     class Bot extends Think { static mcpClient = mcpClient({ servers: {} }); } export default createWorker(Bot);`,
  );
  const remembers = await partsOf(
    `${smallest} import { memory } from "switchboard/memory";
     class Bot extends Think { static memory = memory(); } export default createWorker(Bot);`,
  );
  expect(remembers).toContain("src/memory/memory-feature.ts");
  expect(remembers.filter((name) => name.includes("mcp"))).toEqual([]);
  expect(tools).toContain("src/mcp-client/mcp-client-feature.ts");
  expect(tools.filter((name) => name.includes("server"))).toEqual(["src/mcp-client/server-list.ts"]);
  const traced = await partsOf(
    `${smallest} import { telemetry } from "switchboard/telemetry";
     class Bot extends Think { static telemetry = telemetry(); } export default createWorker(Bot);`,
  );
  expect(traced).toContain("src/telemetry/telemetry-feature.ts");
  expect(traced.filter((name) => name.includes("mcp"))).toEqual([]);
  const files = 'import { workspace } from "switchboard/workspace";';
  const withFiles = await partsOf(
    `${smallest} ${files} class Bot extends Think { static workspace = workspace(); } export default createWorker(Bot);`,
  );
  expect(withFiles).toContain("src/workspace/workspace-feature.ts");
  expect(withFiles.filter((name) => name.includes("bash/") || name.includes("just-bash"))).toEqual([]);
  const withShell = await partsOf(
    `${smallest} ${files} import { bash } from "switchboard/workspace/bash";
     class Bot extends Think { static workspace = workspace({ bash: bash() }); } export default createWorker(Bot);`,
  );
  expect(withShell).toContain("just-bash/browser");
  const agents = await partsOf(
    `${smallest} import "switchboard/agent-tools"; class Bot extends Think {} export default createWorker(Bot);`,
  );
  expect(agents).toContain("src/agent-tools/agent-tools-feature.ts");
  expect(agents.filter((name) => !name.startsWith("src/agent-tools/"))).toEqual([]);
  const undoes = await partsOf(
    `${smallest} import { undo } from "switchboard/undo";
     class Bot extends Think { static undo = undo(); } export default createWorker(Bot);`,
  );
  expect(undoes).toContain("src/undo/undo-feature.ts");
  expect(undoes.filter((name) => !name.startsWith("src/undo/"))).toEqual([]);
  const runsCode = await partsOf(
    `${smallest} import { codemode } from "switchboard/codemode";
     class Bot extends Think { static codemode = codemode(); } export default createWorker(Bot);`,
  );
  expect(runsCode).toContain("src/codemode/codemode-feature.ts");
  expect(runsCode.filter((name) => !/^src\/(?:codemode|sandbox)\//.test(name))).toEqual([]);
  const extended = await partsOf(
    `${smallest} import { extensions } from "switchboard/extensions";
     class Bot extends Think { static extensions = extensions(); } export default createWorker(Bot);`,
  );
  expect(extended).toContain("src/extensions/extensions-feature.ts");
  expect(extended.filter((name) => !/^src\/(?:extensions|sandbox)\//.test(name))).toEqual([]);
  const withSkills = await partsOf(
    `${smallest} import { skills } from "switchboard/skills";
     class Bot extends Think { static skills = skills(); } export default createWorker(Bot);`,
  );
  expect(withSkills).toContain("src/skills/skills-feature.ts");
  expect(withSkills.filter((name) => name.includes("workspace") || name.includes("just-bash"))).toEqual([]);
});

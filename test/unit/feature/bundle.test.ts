import path from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { beforeAll, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

const FEATURES =
  /^src\/(?:mcp(-client)?|telemetry|memory|workspace|agent-tools|skills|sandbox|codemode|undo|extensions)\//;
const WORKSPACE = 'import { workspace } from "switchboard/workspace";';

/** Bots by name: their imports, and the member that declares the feature. */
const BOTS: Readonly<Record<string, readonly [imports: string, member: string]>> = {
  smallest: ["", ""],
  mcp: ['import { mcpServer } from "switchboard/mcp";', 'static mcpServer = mcpServer({ app: "shop" });'],
  tools: [
    'import { mcpClient } from "switchboard/mcp-client";',
    "static mcpClient = mcpClient({ servers: {} });",
  ],
  remembers: ['import { memory } from "switchboard/memory";', "static memory = memory();"],
  traced: ['import { telemetry } from "switchboard/telemetry";', "static telemetry = telemetry();"],
  files: [WORKSPACE, "static workspace = workspace();"],
  shell: [
    `${WORKSPACE} import { bash } from "switchboard/workspace/bash";`,
    "static workspace = workspace({ bash: bash() });",
  ],
  agents: ['import "switchboard/agent-tools";', ""],
  undoes: ['import { undo } from "switchboard/undo";', "static undo = undo();"],
  runsCode: ['import { codemode } from "switchboard/codemode";', "static codemode = codemode();"],
  extended: ['import { extensions } from "switchboard/extensions";', "static extensions = extensions();"],
  skilled: ['import { skills } from "switchboard/skills";', "static skills = skills();"],
};

const bots: Plugin = {
  name: "bots",
  setup(building) {
    building.onResolve({ filter: /^bot:/ }, (found) => ({ path: found.path.slice(4), namespace: "bot" }));
    building.onLoad({ filter: /./, namespace: "bot" }, ({ path: name }) => {
      const [imports = "", member = ""] = BOTS[name] ?? [];
      const contents = `import { Think, createWorker } from "switchboard"; ${imports}
        class Bot extends Think { ${member} } export default createWorker(Bot);`;
      return { contents, resolveDir: root, loader: "ts" };
    });
  },
};

let built: Metafile;

/** All bots are built at once, which reads and writes each file once. */
beforeAll(async () => {
  const { metafile } = await build({
    entryPoints: Object.keys(BOTS).map((name) => ({ in: `bot:${name}`, out: name })),
    plugins: [bots],
    outdir: "bots",
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
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
    external: ["cloudflare:*", "node:*", "*.wasm"],
  });
  built = metafile;
}, 60_000);

type Imports = Readonly<Record<string, { readonly imports: readonly { readonly path: string }[] }>>;

/** Returns everything that an import of a file leads to. */
function reached(from: string, files: Imports): readonly string[] {
  const found = new Set([from]);
  for (const file of found) for (const { path: imported } of files[file]?.imports ?? []) found.add(imported);
  return [...found];
}

/** The files of the features that a bot's files import, and the packages that are left in its bundle. */
function partsOf(bot: string): readonly string[] {
  const files = reached(`bot:${bot}`, built.inputs).filter((name) => name in built.inputs);
  const packages = reached(`bots/${bot}.js`, built.outputs).filter((name) => !(name in built.outputs));
  return [...files, ...packages].filter(
    (name) =>
      FEATURES.test(name) || name.startsWith("@modelcontextprotocol/") || name.startsWith("just-bash"),
  );
}

it("is in the bundle only of a bot that imports it", () => {
  expect(built.inputs["bot:smallest"]).toBeDefined();
  expect(partsOf("smallest")).toEqual([]);
  const parts = partsOf("mcp");
  expect(parts).toContain("src/mcp/mcp-feature.ts");
  expect(parts).toContain("@modelcontextprotocol/server");
  expect(parts.filter((name) => name.includes("client"))).toEqual([]);
  const tools = partsOf("tools");
  const remembers = partsOf("remembers");
  expect(remembers).toContain("src/memory/memory-feature.ts");
  expect(remembers.filter((name) => name.includes("mcp"))).toEqual([]);
  expect(tools).toContain("src/mcp-client/mcp-client-feature.ts");
  expect(tools.filter((name) => name.includes("server"))).toEqual(["src/mcp-client/server-list.ts"]);
  const traced = partsOf("traced");
  expect(traced).toContain("src/telemetry/telemetry-feature.ts");
  expect(traced.filter((name) => name.includes("mcp"))).toEqual([]);
  const withFiles = partsOf("files");
  expect(withFiles).toContain("src/workspace/workspace-feature.ts");
  expect(withFiles.filter((name) => name.includes("bash/") || name.includes("just-bash"))).toEqual([]);
  const withShell = partsOf("shell");
  expect(withShell).toContain("just-bash/browser");
  const agents = partsOf("agents");
  expect(agents).toContain("src/agent-tools/agent-tools-feature.ts");
  expect(agents.filter((name) => !name.startsWith("src/agent-tools/"))).toEqual([]);
  const undoes = partsOf("undoes");
  expect(undoes).toContain("src/undo/undo-feature.ts");
  expect(undoes.filter((name) => !name.startsWith("src/undo/"))).toEqual([]);
  const runsCode = partsOf("runsCode");
  expect(runsCode).toContain("src/codemode/codemode-feature.ts");
  expect(runsCode.filter((name) => !/^src\/(?:codemode|sandbox)\//.test(name))).toEqual([]);
  const extended = partsOf("extended");
  expect(extended).toContain("src/extensions/extensions-feature.ts");
  expect(extended.filter((name) => !/^src\/(?:extensions|sandbox)\//.test(name))).toEqual([]);
  const withSkills = partsOf("skilled");
  expect(withSkills).toContain("src/skills/skills-feature.ts");
  expect(withSkills.filter((name) => name.includes("workspace") || name.includes("just-bash"))).toEqual([]);
});

import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { LongFirstSequencer } from "./scripts/test/long-first-sequencer.ts";

// The processes that tests start load the same modules each time: Node keeps what it made of them.
process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/node_modules/.cache/compiled`;

// The bundler and the linter collect garbage less often, which saves a tenth of their time.
process.env.GOGC ??= "800";

/** The package's own names, as tsconfig.base.json has them. */
const alias = {
  "switchboard/messengers/telegram": `${import.meta.dirname}/providers/telegram/index.ts`,
  "switchboard/messengers": `${import.meta.dirname}/src/messengers/index.ts`,
  "switchboard/memory": `${import.meta.dirname}/src/memory/index.ts`,
  "switchboard/agent-tools": `${import.meta.dirname}/src/agent-tools/index.ts`,
  "switchboard/mcp-client": `${import.meta.dirname}/src/mcp-client/index.ts`,
  "switchboard/telemetry": `${import.meta.dirname}/src/telemetry/index.ts`,
  "switchboard/skills": `${import.meta.dirname}/src/skills/index.ts`,
  "switchboard/workspace/bash": `${import.meta.dirname}/src/workspace/bash/index.ts`,
  "switchboard/workspace": `${import.meta.dirname}/src/workspace/index.ts`,
  "switchboard/mcp": `${import.meta.dirname}/src/mcp/index.ts`,
  "switchboard/undo": `${import.meta.dirname}/src/undo/index.ts`,
  "switchboard/extensions": `${import.meta.dirname}/src/extensions/index.ts`,
  "switchboard/codemode": `${import.meta.dirname}/src/codemode/index.ts`,
  "switchboard/texts": `${import.meta.dirname}/src/texts/index.ts`,
  "switchboard/testing": `${import.meta.dirname}/testing/index.ts`,
  switchboard: `${import.meta.dirname}/src/index.ts`,
  // Only workerd has it. The installed package needs no alias: see testing/cloudflare-modules.ts.
  "cloudflare:workers": `${import.meta.dirname}/test/support/rpc-target.ts`,
};

const compileCommand = "test/support/compile-command.ts";

/**
 * Runs tests inside workerd. `test/worker/wrangler.jsonc` names the entry, whose exports are the Durable Object classes that
 * the tests may use. Other tests do without the plugin, which takes a second to load.
 */
const inWorkerd = isRun("worker")
  ? (await import("@cloudflare/vitest-plugin")).cloudflareTest({
      wrangler: { configPath: "./test/worker/wrangler.jsonc" },
    })
  : undefined;

/** Whether the command asks for a project, or for all of them. */
function isRun(project: string): boolean {
  const asked = process.argv.flatMap((argument, index) =>
    argument === "--project"
      ? (process.argv[index + 1] ?? [])
      : (/^--project=(.*)$/.exec(argument)?.[1] ?? []),
  );
  return asked.length === 0 || asked.some((name) => name === project || /[*!]/.test(name));
}

/** Gives tests `fast-check` with a fixed seed. */
const seeded = `${import.meta.dirname}/test/support/seeded-fast-check.ts`;
const seededProperties = {
  name: "seeded-properties",
  enforce: "pre",
  resolveId: (source: string, importer?: string) =>
    source === "fast-check" && importer !== seeded ? seeded : undefined,
} as const;

/**
 * Loads packages as a deployed bot does. Those of Markdown have a second build "for development", which checks itself and
 * takes a fifth longer.
 */
const asDeployed: Plugin = {
  name: "as-deployed",
  // The condition is one of the defaults, to which options only add.
  configResolved({ environments, ssr }) {
    for (const { resolve } of [...Object.values(environments), ssr]) {
      if (resolve?.conditions === undefined) continue;
      resolve.conditions = resolve.conditions.filter((name) => !name.startsWith("development"));
    }
  },
};

/**
 * Loads packages without their source maps, which are twice as long as their code. Each worker would get them, and V8
 * would read over them.
 */
const packagesWithoutMaps: Plugin = {
  name: "packages-without-maps",
  enforce: "pre",
  load: {
    filter: { id: /\/node_modules\/.*\.[cm]?js$/ },
    handler: async (id) => ({ code: await readFile(id, "utf8"), map: { mappings: "" } }),
  },
};

/** Gives Node the engine of the sandbox as a module that is not instantiated, as workerd does. */
const wasmModules: Plugin = {
  name: "wasm-modules",
  enforce: "pre",
  load: (id) =>
    id.endsWith(".wasm")
      ? `import { readFileSync } from "node:fs";
export default new WebAssembly.Module(readFileSync(${JSON.stringify(id)}));`
      : undefined,
};

/** The machine this must run on has two cores: more workers than that only slow each other down, unless they wait. */
const maxWorkers = 2;

/** Limit of a test. Generous, because a busy machine may need many times as long as a quiet one. */
const PATIENT_MS = 180_000;

/** Tests in workerd wait half of their time. */
const workerdWorkers = 4;

/** End-to-end and browser tests use a processor for a quarter to a third of their time. */
const waitingWorkers = 6;

export default defineConfig({
  test: {
    reporters: process.env.TEST_REPORT
      ? ["default", ["json", { outputFile: process.env.TEST_REPORT }]]
      : ["default"],
    globalSetup: "test/support/share-builds.ts",
    maxWorkers,
    sequence: { sequencer: LongFirstSequencer },
    projects: [
      {
        plugins: [seededProperties, asDeployed, wasmModules],
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/contracts/*.test.ts"],
          environment: "node",
          setupFiles: ["test/support/steady-digest.ts"],
          // The files of one worker share the product's modules, which would take longer to load than most files run.
          isolate: false,
          // More runs of the properties take longer.
          testTimeout: PATIENT_MS * Number(process.env.PROPERTY_RUNS ?? 1),
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Some 150 runs of the simulation, and the search for each planted defect. `npm run simulation` runs it.
        plugins: [seededProperties, asDeployed, wasmModules],
        test: {
          name: "simulation",
          include: ["test/simulation/*.test.ts"],
          environment: "node",
          sequence: { groupOrder: 6 },
        },
      },
      {
        plugins: [seededProperties, inWorkerd, asDeployed, packagesWithoutMaps],
        test: {
          name: "worker",
          maxWorkers: workerdWorkers,
          include: ["test/worker/**/*.test.ts"],
          env: {
            BROADCAST_CHATS: process.env.BROADCAST_CHATS ?? "",
            PROPERTY_SEED: process.env.PROPERTY_SEED ?? "",
            PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? "",
          },
          setupFiles: ["test/worker/support/patience.ts"],
          testTimeout: PATIENT_MS,
          expect: { poll: { timeout: 60_000, interval: 10 } },
          // To start workerd and load the product takes longer than most files. Every test has a root of its own, so
          // the files of one worker share both.
          isolate: false,
          // The runner waits for the answer to each line that it intercepts, and a test that kills its object loses it.
          disableConsoleIntercept: true,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Runs against the served bot. Each file starts processes of its own, on ports and data of their own. They wait
        // most of the time: two files at once use less than half of two cores.
        plugins: [seededProperties, wasmModules],
        test: {
          name: "e2e",
          globalSetup: compileCommand,
          maxWorkers: waitingWorkers,
          // A bot in a folder of its own has its tests beside it.
          include: ["test/e2e/**/*.test.ts", "examples/**/*.test.ts", "*/*.test.ts"],
          alias,
          environment: "node",
          // To load the simulator and the command takes longer than many tests, which share nothing but that.
          isolate: false,
          testTimeout: PATIENT_MS,
          // A page on a busy machine may take seconds.
          expect: { poll: { timeout: 60_000 } },
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // What people see on each platform: a served bot on an emulator of it. `npm run contracts` runs it.
        test: {
          name: "contracts",
          globalSetup: [compileCommand, "test/contracts/build-for-one.ts"],
          // Each suite serves two bots at once: more suites at once than processors take longer, and not less in all.
          maxWorkers,
          include: ["test/contracts/*/*.test.ts"],
          alias,
          environment: "node",
          testTimeout: PATIENT_MS,
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 4 },
        },
      },
      {
        // The bot on emulators that others have written. `npm run contracts:independent` installs them, and runs this.
        test: {
          name: "independent",
          include: ["test/independent/*.test.ts"],
          environment: "node",
          testTimeout: PATIENT_MS,
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 5 },
        },
      },
      {
        // The package that users install. `npm run check-package` builds it and runs this.
        test: {
          name: "package",
          include: ["test/package/**/*.test.ts"],
          environment: "node",
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        // The playground's page in a browser. `npm run browser` runs it.
        test: {
          name: "browser",
          globalSetup: compileCommand,
          maxWorkers: waitingWorkers,
          include: ["test/browser/**/*.test.ts"],
          environment: "node",
          // Loading playwright and the simulator costs more than many tests.
          isolate: false,
          testTimeout: PATIENT_MS,
          // A page on a busy machine may take seconds.
          expect: { poll: { timeout: 60_000 } },
          hookTimeout: PATIENT_MS,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

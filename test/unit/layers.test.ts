import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { breach } from "../../scripts/lint/layers.js";

const root = path.resolve(import.meta.dirname, "../..");

/** A small tree with one file in each part, every import of which is allowed. */
const CLEAN: Readonly<Record<string, string>> = {
  "src/core/clock.ts": "export const clock = 1;\n",
  "src/inbox/inbox.ts": 'export { clock as inbox } from "../core/clock.ts";\n',
  "src/turn/turn.ts": 'import { clock } from "../core/clock.ts";\n\nexport const turn = clock;\n',
  "delivery/text/cut.ts": 'import { clock } from "../../src/core/clock.ts";\n\nexport const cut = clock;\n',
  "delivery/lane/plan.ts": 'import { cut } from "../text/cut.ts";\n\nexport const plan = cut;\n',
  "delivery/index.ts": 'export { plan } from "./lane/plan.ts";\n',
  "providers/telegram/index.ts": 'export { clock as telegram } from "../../src/core/clock.ts";\n',
  "providers/slack/index.ts": 'export { clock as slack } from "../../src/core/clock.ts";\n',
  "src/messengers/runtime.ts":
    'export { inbox } from "../inbox/inbox.ts";\nexport { plan } from "../../delivery/index.ts";\n',
  "src/scheduled-runs/run.ts": 'export { inbox as run } from "../messengers/runtime.ts";\n',
  "src/feature/feature.ts": 'export { run as feature } from "../scheduled-runs/run.ts";\n',
  "src/approvals/approvals-feature.ts": 'export { feature as approvals } from "../feature/feature.ts";\n',
  "src/schedules/schedules-feature.ts": 'export { feature as schedules } from "../feature/feature.ts";\n',
  "src/agent/features.ts":
    'export { approvals } from "../approvals/approvals-feature.ts";\nexport { schedules } from "../schedules/schedules-feature.ts";\n',
  "src/think.ts":
    'export { inbox } from "./messengers/runtime.ts";\nexport { turn } from "./turn/turn.ts";\n',
  "examples/bot/worker.ts": 'export { inbox } from "../../src/think.ts";\n',
};

type Files = Readonly<Record<string, string>>;

/** Lints a tree. Returns the lines about each file. */
async function lint(files: Files): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-layers-"));
  await cp(path.join(root, ".oxlintrc.json"), path.join(folder, ".oxlintrc.json"));
  await cp(path.join(root, "scripts/lint"), path.join(folder, "scripts/lint"), { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), content);
  }
  const oxlint = path.join(root, "node_modules/oxlint/bin/oxlint");
  const parameters = [oxlint, "-f", "unix", "src", "providers", "delivery", "examples"];
  const { status, stderr, stdout } = spawnSync(process.execPath, parameters, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PATH: `${path.join(root, "node_modules/.bin")}:${process.env.PATH}` },
  });
  await rm(folder, { recursive: true });
  const found = Map.groupBy(
    stdout.split("\n").filter((line) => /:\d+:\d+: /.test(line)),
    (line) => line.split(":", 1)[0] ?? "",
  );
  if ((status === 0) !== (found.size === 0))
    throw new Error(`oxlint ended with ${status}: ${stdout}${stderr}`);
  return found;
}

/** Mistakes, each in files of its own, so that one run of the linter finds all of them. */
const planted: Record<string, string> = {};
let problems: ReadonlyMap<string, readonly string[]>;
const problemsOf = (file: string): string => (problems.get(file) ?? []).join("\n");

function plant(file: string, content: string): void {
  if (file in CLEAN || file in planted) throw new Error(`There are two files ${file}.`);
  planted[file] = content;
}

/** A breach, the file that has it, and the words of its message. */
const BREACHES = [
  [
    "a provider imports another",
    "providers/slack/send.ts",
    "../telegram/index.ts",
    "telegram",
    "parts of one layer",
  ],
  [
    "core imports delivery",
    "src/core/base/time.ts",
    "../../../delivery/index.ts",
    "plan",
    "src/core/ (core) is below delivery/",
  ],
  ["the inbox imports the turn", "src/inbox/start.ts", "../turn/turn.ts", "turn", "parts of one layer"],
  [
    "delivery imports a provider",
    "delivery/send.ts",
    "../providers/slack/index.ts",
    "slack",
    "parts of one layer",
  ],
  [
    "a part imports the messengers",
    "src/turn/ask.ts",
    "../messengers/runtime.ts",
    "inbox",
    "is below src/messengers/",
  ],
  [
    "a room imports one above it",
    "delivery/text/draw.ts",
    "../lane/plan.ts",
    "plan",
    "delivery/text/ is not above delivery/lane/",
  ],
  [
    "a room imports a file beside the rooms",
    "delivery/text/show.ts",
    "../index.ts",
    "plan",
    "is below the files beside it",
  ],
  [
    "a room has no place in the order",
    "delivery/attic/draw.ts",
    "../text/cut.ts",
    "cut",
    "delivery/attic/ is no room",
  ],
  [
    "somebody reaches past the face of delivery",
    "src/messengers/thread/ask.ts",
    "../../../delivery/lane/plan.ts",
    "plan",
    "imports delivery/index.ts",
  ],
  [
    "a feature imports another",
    "src/approvals/due.ts",
    "../schedules/schedules-feature.ts",
    "schedules",
    "parts of one layer",
  ],
  [
    "a feature imports the composition",
    "src/approvals/list.ts",
    "../agent/features.ts",
    "schedules",
    "src/approvals/ (feature) is below src/agent/",
  ],
  [
    "the conversation imports a feature",
    "src/messengers/thread/answer.ts",
    "../../approvals/approvals-feature.ts",
    "approvals",
    "src/messengers/ (messengers) is below src/approvals/",
  ],
  [
    "the contract of features imports one",
    "src/feature/first.ts",
    "../approvals/approvals-feature.ts",
    "approvals",
    "src/feature/ (contract) is below src/approvals/",
  ],
  [
    "the composition imports the bot's class",
    "src/agent/bot.ts",
    "../think.ts",
    "turn",
    "src/agent/ (agent) is below src/",
  ],
  [
    "the product imports an example",
    "src/shell.ts",
    "../examples/bot/worker.ts",
    "inbox",
    "is below examples/bot/",
  ],
] as const;

/** Ways to import, each of which is a breach. */
const WAYS: Files = {
  "src/core/a.ts": 'export type { plan } from "../../delivery/index.ts";\n',
  "src/core/b.ts": 'export * from "../../delivery/index.ts";\n',
  "src/core/c.ts": 'export const later = () => import("../../delivery/index.ts");\n',
  "src/core/d.ts": 'export type Later = typeof import("../../delivery/index.ts");\n',
};

const CYCLE: Files = {
  "delivery/one.ts": 'import { two } from "./two.ts";\n\nexport const one = (): number => two();\n',
  "delivery/two.ts": 'import { one } from "./one.ts";\n\nexport const two = (): number => one();\n',
};

const CYCLE_OF_TYPES: Files = {
  "delivery/text/one.ts": 'import type { Two } from "./two.ts";\n\nexport interface One {\n  two: Two;\n}\n',
  "delivery/text/two.ts": 'import type { One } from "./one.ts";\n\nexport interface Two {\n  one: One;\n}\n',
};

/** Constructors, and the words of the message. */
const CONSTRUCTORS = [
  ["a field", "this.#desk = new Desk({ news: () => this.#news });", "#news does not exist yet"],
  ["an argument", "this.#desk = new Desk(() => this.#news);", "#news does not exist yet"],
  ["a function inside", "this.#desk = new Desk({ of: () => [1].map(() => this.#news) });", "#news does not"],
  ["a variable", "this.#desk = new Desk(() => news);", "news does not exist yet"],
  ["a named function", "const of = () => this.#news; this.#desk = new Desk(of);", "#news does not exist"],
  [
    "no circle",
    "const { log } = options; this.#desk = new Desk(() => [log, this.#log, this.work()]);",
    undefined,
  ],
] as const;

const fileOf = (what: string): string => `src/turn/${what.replaceAll(" ", "-")}.ts`;

for (const [, file, specifier, name] of BREACHES)
  plant(file, `import { ${name} } from "${specifier}";\n\nexport const planted = ${name};\n`);
for (const [file, content] of Object.entries({ ...WAYS, ...CYCLE, ...CYCLE_OF_TYPES })) plant(file, content);
for (const [what, first] of CONSTRUCTORS) {
  const part = `class Part {
  readonly #log;
  #desk;
  #news;
  constructor(options) {
    this.#log = options.log;
    ${first}
    const news = new News();
    this.#news = news;
  }
  work() {}
}
`;
  plant(fileOf(what), `${part}\nexport const parts = [Part];\n`);
}
plant("src/core/hidden.ts", "export class Hidden {\n  private value = 1;\n}\n");

describe("lint", () => {
  beforeAll(async () => {
    problems = await lint({ ...CLEAN, ...planted });
  });

  it("passes a tree that keeps the order of the layers", async () => {
    expect(await lint(CLEAN)).toEqual(new Map());
    expect([...problems.keys()].filter((file) => file in CLEAN)).toEqual([]);
  });

  it.each(BREACHES)("fails when %s", (_case, file, _specifier, _name, message) => {
    expect(problemsOf(file)).toContain("switchboard(layers)");
    expect(problemsOf(file)).toContain(message);
  });

  it.each(Object.keys(WAYS))("sees breaches in type imports, re-exports and dynamic imports: %s", (file) => {
    expect(problemsOf(file).match(/switchboard\(layers\)/g)).toHaveLength(1);
  });

  it.each([
    ["within a part", CYCLE],
    ["that is made of types alone", CYCLE_OF_TYPES],
  ])("fails on a cycle %s", (_what, files) => {
    expect(Object.keys(files).map(problemsOf).join("\n")).toContain("import(no-cycle)");
  });

  it.each(CONSTRUCTORS)(
    "fails on objects that need each other before they exist: %s",
    (what, _first, problem) => {
      if (problem === undefined) expect(problemsOf(fileOf(what))).not.toContain("does not exist yet");
      else expect(problemsOf(fileOf(what))).toContain(problem);
    },
  );

  it("fails on a private keyword, which RPC does not respect", () => {
    expect(problemsOf("src/core/hidden.ts")).toContain("switchboard(hash-private)");
  });
});

describe("layer rule", () => {
  it("lets tests see everything and the outside nothing of the product", () => {
    expect(breach("test/unit/a.test.ts", "delivery/plan.ts")).toBeUndefined();
    expect(breach("playground/dev-server.ts", "src/core/clock.ts")).toContain("stands outside the product");
    expect(breach("ops/serve/serve-bot.ts", "src/log/hide-secrets.ts")).toBeUndefined();
    expect(breach("src/think.ts", "playground/shop/orders.ts")).toContain("does not import playground/");
  });

  it("keeps what stands outside in its order", () => {
    expect(breach("playground/dev-server.ts", "ops/serve/port.ts")).toBeUndefined();
    expect(breach("ops/serve/serve-bot.ts", "playground/dev-server.ts")).toContain(
      "ops/ is below playground/",
    );
    expect(breach("playground/dev-server.ts", "lab/support/rig.ts")).toContain("playground/ is below lab/");
    expect(breach("cli/commands/dev.ts", "playground/dev-server.ts")).toBeUndefined();
    expect(breach("playground/dev-server.ts", "cli/report.ts")).toContain("playground/ is below cli/");
    expect(breach("lab/support/rig.ts", "test/support/fake-surface.ts")).toContain("lab/ is below test/");
    expect(breach("src/think.ts", "lab/support/rig.ts")).toContain("does not import lab/");
    expect(breach("lab/simulation/world/world.ts", "delivery/lane/lane.ts")).toBeUndefined();
  });

  it("keeps the rooms of the lab and of its simulation in their order", () => {
    expect(breach("lab/chaos.ts", "lab/chaos/campaign.ts")).toBeUndefined();
    expect(breach("lab/chaos/campaign.ts", "lab/support/rig.ts")).toBeUndefined();
    expect(breach("lab/chaos/campaign.ts", "lab/simulation/simulate.ts")).toContain(
      "lab/chaos/ is not above lab/simulation/",
    );
    expect(breach("lab/support/rig.ts", "lab/chaos/judge.ts")).toContain(
      "lab/support/ is not above lab/chaos/",
    );
    expect(breach("lab/simulation/world/world.ts", "lab/simulation/plan/plan.ts")).toBeUndefined();
    expect(breach("lab/simulation/plan/plan.ts", "lab/simulation/world/world.ts")).toContain(
      "lab/simulation/plan/ is not above lab/simulation/world/",
    );
    expect(breach("lab/simulation/world/world.ts", "lab/simulation/simulate.ts")).toContain(
      "is below the files beside it",
    );
  });
});

import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { breach } from "../../scripts/lint/layers.js";

const root = path.resolve(import.meta.dirname, "../..");
let copy: string;

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

beforeEach(async () => {
  copy = await mkdtemp(path.join(tmpdir(), "switchboard-layers-"));
  await cp(path.join(root, ".oxlintrc.json"), path.join(copy, ".oxlintrc.json"));
  await cp(path.join(root, "scripts/lint"), path.join(copy, "scripts/lint"), { recursive: true });
  for (const [file, content] of Object.entries(CLEAN)) await plant(file, content);
});
afterEach(() => rm(copy, { recursive: true }));

async function plant(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(path.join(copy, file)), { recursive: true });
  await writeFile(path.join(copy, file), content);
}

function lint(): { passed: boolean; output: string } {
  const oxlint = path.join(root, "node_modules/oxlint/bin/oxlint");
  const result = spawnSync(process.execPath, [oxlint, "src", "providers", "delivery", "examples"], {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, PATH: `${path.join(root, "node_modules/.bin")}:${process.env.PATH}` },
  });
  return { passed: result.status === 0, output: result.stdout + result.stderr };
}

describe("lint", () => {
  it("passes a tree that keeps the order of the layers", () => {
    expect(lint()).toMatchObject({ passed: true });
  });

  it.each([
    [
      "a provider imports another",
      "providers/slack/send.ts",
      "../telegram/index.ts",
      "telegram",
      "parts of one layer",
    ],
    [
      "core imports delivery",
      "src/core/deps.ts",
      "../../delivery/index.ts",
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
      "delivery/text/draw.ts",
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
      "src/messengers/thread/ask.ts",
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
  ])("fails when %s", async (_case, file, specifier, name, message) => {
    await plant(file, `import { ${name} } from "${specifier}";\n\nexport const planted = ${name};\n`);
    const { passed, output } = lint();
    expect(passed).toBe(false);
    expect(output).toContain("switchboard(layers)");
    expect(output.replaceAll(/\s+/g, " ")).toContain(message);
  });

  it("sees breaches in type imports, re-exports and dynamic imports", async () => {
    await plant("src/core/a.ts", 'export type { plan } from "../../delivery/index.ts";\n');
    await plant("src/core/b.ts", 'export * from "../../delivery/index.ts";\n');
    await plant("src/core/c.ts", 'export const later = () => import("../../delivery/index.ts");\n');
    await plant("src/core/d.ts", 'export type Later = typeof import("../../delivery/index.ts");\n');
    const { output } = lint();
    for (const file of ["a.ts", "b.ts", "c.ts", "d.ts"]) expect(output).toMatch(`src/core/${file}`);
    expect(output.match(/switchboard\(layers\)/g)).toHaveLength(4);
  });

  it("fails on a cycle within a part", async () => {
    await plant(
      "delivery/one.ts",
      'import { two } from "./two.ts";\n\nexport const one = (): number => two();\n',
    );
    await plant(
      "delivery/two.ts",
      'import { one } from "./one.ts";\n\nexport const two = (): number => one();\n',
    );
    const { passed, output } = lint();
    expect(passed).toBe(false);
    expect(output).toContain("import(no-cycle)");
  });

  it("fails on a cycle that is made of types alone", async () => {
    await plant(
      "delivery/text/one.ts",
      'import type { Two } from "./two.ts";\n\nexport interface One {\n  two: Two;\n}\n',
    );
    await plant(
      "delivery/text/two.ts",
      'import type { One } from "./one.ts";\n\nexport interface Two {\n  one: One;\n}\n',
    );
    expect(lint().output).toContain("import(no-cycle)");
  });

  it.each([
    ["a field", "this.#desk = new Desk({ news: () => this.#news });", "#news does not exist yet"],
    ["an argument", "this.#desk = new Desk(() => this.#news);", "#news does not exist yet"],
    [
      "a function inside",
      "this.#desk = new Desk({ of: () => [1].map(() => this.#news) });",
      "#news does not",
    ],
    ["a variable", "this.#desk = new Desk(() => news);", "news does not exist yet"],
    ["a named function", "const of = () => this.#news; this.#desk = new Desk(of);", "#news does not exist"],
    [
      "no circle",
      "const { log } = options; this.#desk = new Desk(() => [log, this.#log, this.work()]);",
      undefined,
    ],
  ])("fails on objects that need each other before they exist: %s", async (_what, first, problem) => {
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
    await plant("src/turn/part.ts", `${part}\nexport const parts = [Part];\n`);
    const { output } = lint();
    if (problem === undefined) expect(output).not.toContain("does not exist yet");
    else expect(output).toContain(problem);
  });

  it("fails on a private keyword, which RPC does not respect", async () => {
    await plant("src/core/hidden.ts", "export class Hidden {\n  private value = 1;\n}\n");
    expect(lint().output).toContain("switchboard(hash-private)");
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

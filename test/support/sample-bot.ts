import { symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  ai: ["tool"],
  switchboard: [
    "action",
    "createWorker",
    "modelFromEnv",
    "Think",
    "type BotEnvironment",
    "type CardPress",
    "type IncomingHooks",
    "type ThinkCommands",
    "type ThinkTools",
  ],
  "switchboard/messengers": ["defineMessengers"],
  "switchboard/messengers/telegram": ["telegramFromEnv"],
  zod: ["z"],
};

/**
 * Writes a bot that is made of the sample of a page: a class, or the methods of one. It gets a model and Telegram from
 * the environment.
 *
 * @param members further members of the bot's class
 * @returns its configuration file
 */
export async function writeSampleBot(
  folder: string,
  sample: string,
  options: { readonly members?: string; readonly vars?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  // Two imports of one name would clash, so that the sample's own ones are left out.
  const code = sample.replaceAll(/^(?:import [\s\S]*?;|export default .*;)\n/gm, "");
  const className = /export class (\w+)/.exec(code)?.[1];
  const lines = [
    ...Object.entries(IMPORTS).map(([from, names]) => `import { ${names.join(", ")} } from "${from}";`),
    className === undefined ? `class Sample extends Think<BotEnvironment> {\n${code}\n}` : code,
    `export class SampleBot extends ${className ?? "Sample"} {`,
    `  getModel() { return modelFromEnv(this.env); }`,
    `  getMessengers() { return defineMessengers({ telegram: telegramFromEnv(this.env) }); }`,
    options.members ?? "",
    `}`,
    `export default createWorker(SampleBot);`,
  ];
  await writeFile(path.join(folder, "worker.ts"), lines.join("\n"));
  const configuration = {
    name: "sample",
    main: "worker.ts",
    compatibility_date: "2026-10-15",
    compatibility_flags: ["nodejs_compat"],
    durable_objects: { bindings: [{ name: "SampleBot", class_name: "SampleBot" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["SampleBot"] }],
    vars: options.vars ?? {},
  };
  const configFile = path.join(folder, "wrangler.jsonc");
  await writeFile(configFile, JSON.stringify(configuration));
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const types = { extends: path.join(root, "tsconfig.base.json") };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(types));
  return configFile;
}

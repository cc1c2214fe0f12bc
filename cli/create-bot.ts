import { randomBytes } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { ServeError } from "../ops/serve/serve-error.ts";

/** The templates, and what they are for. */
export const TEMPLATES = {
  minimal: "the smallest bot",
  tools: "a shopping list: tools, a command and a memory of its own",
  "group-helper": "a helper that reads along in a group",
} as const;

export type TemplateName = keyof typeof TEMPLATES;

export interface CreateBotOptions {
  /** Folder of the new bot. It may exist, if it is empty. */
  readonly folder: string;
  readonly template: TemplateName;
  /** Folder of the templates. */
  readonly templates: string;
  /** Version of each package of the new bot. */
  readonly versions: PackageVersions;
}

export interface PackageVersions {
  /** Where npm gets Switchboard from: a version, or the path of a tarball. */
  readonly switchboard: string;
  /** The versions that Switchboard itself is tried with, by name. */
  readonly others: Readonly<Record<string, string>>;
}

export interface CreatedBot {
  readonly name: string;
  readonly folder: string;
  /** Sorted paths of the files, relative to the folder. */
  readonly files: readonly string[];
}

/** Files that a folder may have before it becomes a bot. */
const HARMLESS = new Set([".git", ".DS_Store", ".idea", ".vscode"]);

/** The name in the template's files. */
const PLACEHOLDER = "my-bot";

/** The connection to most models, and to the scripted model of a bot's tests. */
const MODELS = "@ai-sdk/openai-compatible";
const DEPENDENCIES = [MODELS, "ai", "zod"];
const DEV_DEPENDENCIES = ["@cloudflare/workers-types", "@types/node", "typescript", "vitest", "wrangler"];

/**
 * Writes a new bot into a folder. Nothing is downloaded.
 *
 * @throws {ServeError} `folder-not-empty` if the folder has files already
 */
export async function createBot(options: CreateBotOptions): Promise<CreatedBot> {
  const { folder, template, templates, versions } = options;
  const name = botName(path.basename(path.resolve(folder)));
  await mkdir(folder, { recursive: true });
  const existing = (await readdir(folder)).filter((file) => !HARMLESS.has(file));
  if (existing.length > 0) {
    throw new ServeError(
      "folder-not-empty",
      `${folder} is not empty (${existing.slice(0, 3).join(", ")}). Give the name of a new folder: switchboard init my-bot`,
    );
  }
  for (const part of ["shared", template]) {
    await cp(path.join(templates, part), folder, { recursive: true });
  }
  // npm leaves a file named .gitignore out of a package.
  await rename(path.join(folder, "gitignore"), path.join(folder, ".gitignore"));
  for (const file of ["AGENTS.md", "README.md", "wrangler.jsonc"]) {
    const target = path.join(folder, file);
    await writeFile(target, (await readFile(target, "utf8")).replaceAll(PLACEHOLDER, name));
  }
  await writeFile(path.join(folder, "package.json"), packageJson(name, versions));
  await writeFile(path.join(folder, ".env"), environmentFile(), { mode: 0o600 });
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const written = files
    .filter((it) => it.isFile() && !it.parentPath.includes(`${path.sep}.git`))
    .map((it) => path.relative(folder, path.join(it.parentPath, it.name)));
  return { name, folder: path.resolve(folder), files: written.toSorted() };
}

/** Turns the name of a folder into one that npm and Cloudflare accept. */
export function botName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[-0-9]+|-+$/g, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return name === "" ? PLACEHOLDER : name;
}

function packageJson(name: string, { others, switchboard }: PackageVersions): string {
  const pick = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((it) => [it, others[it] ?? "latest"]));
  const content = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      dev: "switchboard dev",
      "dev:telegram": "switchboard dev --telegram",
      serve: "switchboard serve",
      // A busy machine may take a while to start a bot.
      test: "vitest run --testTimeout=30000",
      types: "tsc",
      doctor: "switchboard doctor",
      deploy: "wrangler deploy",
    },
    dependencies: { ...pick(DEPENDENCIES), switchboard },
    devDependencies: pick(DEV_DEPENDENCIES),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function environmentFile(): string {
  const secret = (): string => randomBytes(24).toString("base64url");
  return `# Variables of the bot on this machine. Keep this file out of version control.

# The token of a real bot, from @BotFather. "npm run dev" needs none.
TELEGRAM_BOT_TOKEN=
# Telegram sends it with every update.
TELEGRAM_WEBHOOK_SECRET_TOKEN=${secret()}
# Opens the bot's own addresses to its operator: telegram setup, data, metrics.
ADMIN_TOKEN=${secret()}

# A model. Without one only "npm run dev" answers, with a demo.
# OPENAI_BASE_URL=https://api.openai.com/v1
# OPENAI_API_KEY=
# MODEL=
# Or one of Anthropic, after: npm install @ai-sdk/anthropic
# ANTHROPIC_API_KEY=
`;
}

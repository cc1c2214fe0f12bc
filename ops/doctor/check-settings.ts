import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { parseWorkerConfig } from "../serve/worker-config.ts";
import { telegramAccount, webhookSecret } from "../telegram/telegram-environment.ts";
import { platformsIn } from "./check-platforms.ts";
import { ok, problem, skipped, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);

/** Checks the wrangler configuration without building the bot. */
export async function checkConfiguration(configFile: string): Promise<Finding> {
  const about = "configuration";
  let text: string;
  try {
    text = await readFile(configFile, "utf8");
  } catch {
    return problem(
      about,
      `${configFile} cannot be read.`,
      "Run the command in the bot's folder, or give --config.",
    );
  }
  try {
    const { main, name } = parseWorkerConfig(text, path.basename(configFile));
    const entry = path.resolve(path.dirname(configFile), main);
    await stat(entry);
    return ok(about, `${path.basename(configFile)} describes the bot "${name}" in ${main}.`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT")
      return problem(about, `"main" of ${configFile} names a file that does not exist.`, "Correct its path.");
    return problem(about, error instanceof Error ? error.message : String(error), `Correct ${configFile}.`);
  }
}

/** Checks that the files with secrets stay private. */
export async function checkEnvFiles(folder: string, files: readonly string[]): Promise<readonly Finding[]> {
  if (files.length === 0) return [skipped("variables", "There is no .env; the shell's variables count.")];
  const findings: Finding[] = [];
  for (const name of files) {
    const file = path.join(folder, name);
    const isTracked = await run("git", ["ls-files", "--error-unmatch", name], { cwd: folder }).then(
      () => true,
      () => false,
    );
    if (isTracked) {
      findings.push(
        problem(
          "variables",
          `git tracks ${name}, so its secrets are in the repository.`,
          `Run: git rm --cached ${name} && echo ${name} >> .gitignore. Then replace every secret in it.`,
        ),
      );
    } else if (((await stat(file)).mode & 0o077) !== 0 && process.platform !== "win32") {
      findings.push(warning("variables", `Other users can read ${name}.`, `Run: chmod 600 ${file}`));
    } else {
      findings.push(ok("variables", `${name} is read.`));
    }
  }
  return findings;
}

const LEVELS = new Set(["", "info", "warn", "error", "silent"]);

/**
 * Checks the variables themselves.
 *
 * @param packages of the bot
 */
export function checkVariables(environment: Environment, packages: ReadonlySet<string>): readonly Finding[] {
  // A bot on another platform needs no Telegram.
  const isOnTelegram = environment.TELEGRAM_BOT_TOKEN || platformsIn(environment, packages).length === 0;
  return [
    ...(isOnTelegram
      ? [
          checked("Telegram token", () => void telegramAccount(environment)),
          checked("webhook secret", () => void webhookSecret(environment)),
        ]
      : []),
    LEVELS.has((environment.LOG_LEVEL ?? "").toLowerCase())
      ? undefined
      : warning(
          "LOG_LEVEL",
          "LOG_LEVEL is not known, so everything is logged.",
          "Set it to info, warn, error or silent.",
        ),
    environment.DEBUG === "1" && environment.NODE_ENV === "production"
      ? warning("DEBUG", "DEBUG=1 writes messages of exceptions into the log.", "Leave it out in production.")
      : undefined,
    modelContradiction(environment),
  ].filter((finding) => finding !== undefined);
}

function checked(about: string, check: () => void): Finding {
  try {
    check();
    return ok(about, "It has the right form.");
  } catch (error) {
    const [message = "", ...fix] = (error instanceof Error ? error.message : String(error)).split(". ");
    const isMissing = message.endsWith("is not set");
    // The simulator needs neither.
    return (isMissing ? warning : problem)(about, `${message}.`, fix.join(". ") || "Copy it again.");
  }
}

function modelContradiction(environment: Environment): Finding | undefined {
  const has = (name: string): boolean => (environment[name] ?? "") !== "";
  const openai = has("OPENAI_BASE_URL") || has("OPENAI_API_KEY");
  if (openai && has("ANTHROPIC_API_KEY")) {
    return problem(
      "model",
      "Both OPENAI_... and ANTHROPIC_API_KEY are set.",
      "Keep the variables of one provider.",
    );
  }
  if (openai && !has("MODEL")) {
    return problem("model", "MODEL is not set.", "Set MODEL to the model's name at its provider.");
  }
  if (has("MODEL") && !openai && !has("ANTHROPIC_API_KEY")) {
    return problem(
      "model",
      "MODEL is set, but no provider is.",
      "Set OPENAI_BASE_URL, OPENAI_API_KEY or ANTHROPIC_API_KEY.",
    );
  }
  return undefined;
}

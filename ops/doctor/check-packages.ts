import { existsSync } from "node:fs";
import path from "node:path";
import { ok, problem } from "./finding.ts";
import type { Finding } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Checks that the package is installed which connects the bot to the model of its environment. */
export function checkModelPackage(environment: Environment, folder: string): Finding | undefined {
  const about = "model package";
  const name = modelPackage(environment);
  if (name === undefined) return undefined;
  if (isInstalled(name, folder)) return ok(about, `${name} is installed.`);
  return problem(
    about,
    `The model of the environment needs ${name}, which is not installed.`,
    `Run: npm install ${name}`,
  );
}

function modelPackage(environment: Environment): string | undefined {
  if (environment.OPENAI_BASE_URL || environment.OPENAI_API_KEY) return "@ai-sdk/openai-compatible";
  return environment.ANTHROPIC_API_KEY ? "@ai-sdk/anthropic" : undefined;
}

function isInstalled(name: string, folder: string): boolean {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    if (existsSync(path.join(place, "node_modules", name, "package.json"))) return true;
    if (place === path.dirname(place)) return false;
  }
}

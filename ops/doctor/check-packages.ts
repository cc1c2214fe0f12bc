import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { ok, problem } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { parse } from "./platforms/platform-check.ts";

const manifest = z.object({ dependencies: z.record(z.string(), z.unknown()).default({}) });

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

/** Returns the names of the packages that the bot of a folder depends on. None if nothing tells it. */
export function packagesOf(folder: string): ReadonlySet<string> {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    const file = path.join(place, "package.json");
    if (existsSync(file)) {
      const { data } = manifest.safeParse(parse(readFileSync(file, "utf8")));
      return new Set(Object.keys(data?.dependencies ?? {}));
    }
    if (place === path.dirname(place)) return new Set();
  }
}

function isInstalled(name: string, folder: string): boolean {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    if (existsSync(path.join(place, "node_modules", name, "package.json"))) return true;
    if (place === path.dirname(place)) return false;
  }
}

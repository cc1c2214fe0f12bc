import { problem, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { discord } from "./platforms/discord.ts";
import { gchat } from "./platforms/gchat.ts";
import { github } from "./platforms/github.ts";
import { linear } from "./platforms/linear.ts";
import { parse } from "./platforms/platform-check.ts";
import type { Ask, Environment, PlatformCheck } from "./platforms/platform-check.ts";
import { slack } from "./platforms/slack.ts";
import { teams } from "./platforms/teams.ts";
import { whatsapp } from "./platforms/whatsapp.ts";

const PLATFORMS: readonly PlatformCheck[] = [slack, discord, teams, whatsapp, gchat, github, linear];
const CALL_LIMIT_MS = 8_000;

/**
 * Checks the credentials of every platform of which a variable is set. Other platforms are not wanted.
 *
 * @param call makes the requests. @default `fetch`
 */
export async function checkPlatforms(environment: Environment, call = fetch): Promise<readonly Finding[]> {
  const ask: Ask = async (url, init) => {
    const response = await call(url, {
      ...init,
      redirect: "manual",
      signal: AbortSignal.timeout(CALL_LIMIT_MS),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: parse(await response.text()),
    };
  };
  const wanted = platformsIn(environment).map((platform) => check(platform, environment, ask));
  return (await Promise.all(wanted)).flat();
}

/** Returns the platforms of which a variable is set. */
export function platformsIn(environment: Environment): readonly PlatformCheck[] {
  return PLATFORMS.filter(({ needs, tokens }) =>
    [...tokens, ...Object.keys(needs).flatMap(eitherOf)].some((name) => environment[name]),
  );
}

function eitherOf(variables: string): readonly string[] {
  return variables.split(" or ");
}

async function check(
  { ask: askPlatform, installs = [], name, needs, tokens }: PlatformCheck,
  environment: Environment,
  ask: Ask,
): Promise<readonly Finding[]> {
  if (!tokens.some((variable) => environment[variable])) {
    if (installs.some((variable) => environment[variable])) return [];
    const fix = `Set ${tokens.join(" or ")}, unless the bot's code gives the adapter another one.`;
    return [warning(name, `The bot has no credentials for ${name}.`, fix)];
  }
  const missing = Object.entries(needs)
    .filter(([variables]) => !eitherOf(variables).some((variable) => environment[variable]))
    .map(([variables, place]) =>
      problem(name, `${variables} is not set.`, `Set it. You find it here: ${place}.`),
    );
  if (missing.length > 0) return missing;
  try {
    return await askPlatform(environment, ask);
  } catch {
    return [
      problem(name, `${name} cannot be reached.`, "Check the network, and the variable of its address."),
    ];
  }
}

import { problem, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { discord } from "./platforms/discord.ts";
import { gchat } from "./platforms/gchat.ts";
import { github } from "./platforms/github.ts";
import { linear } from "./platforms/linear.ts";
import { inWords, parse } from "./platforms/platform-check.ts";
import type { Ask, Environment, PlatformCheck } from "./platforms/platform-check.ts";
import { slack } from "./platforms/slack.ts";
import { teams } from "./platforms/teams.ts";
import { whatsapp } from "./platforms/whatsapp.ts";

const PLATFORMS: readonly PlatformCheck[] = [slack, discord, teams, whatsapp, gchat, github, linear];
const CALL_LIMIT_MS = 8_000;

/** Many shells have one that is not meant for a bot. */
const NOT_FOR_BOTS = "GITHUB_TOKEN";

/**
 * Checks the credentials of every platform that is wanted.
 *
 * @param packages of the bot
 * @param call makes the requests. @default `fetch`
 */
export async function checkPlatforms(
  environment: Environment,
  packages: ReadonlySet<string>,
  call = fetch,
): Promise<readonly Finding[]> {
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
  const wanted = platformsIn(environment, packages).map((platform) => check(platform, environment, ask));
  return (await Promise.all(wanted)).flat();
}

/** Returns the platforms whose adapter is one of the bot's packages, or of which a variable is set. */
export function platformsIn(
  environment: Environment,
  packages: ReadonlySet<string>,
): readonly PlatformCheck[] {
  return PLATFORMS.filter(
    ({ adapter, needs, token: [token] }) =>
      packages.has(adapter) ||
      [token, ...Object.keys(needs)]
        .flatMap(eitherOf)
        .some((name) => name !== NOT_FOR_BOTS && environment[name]),
  );
}

function eitherOf(variables: string): readonly string[] {
  return variables.split(" or ");
}

async function check(
  { ask: askPlatform, installs = [], name, needs, token }: PlatformCheck,
  environment: Environment,
  ask: Ask,
): Promise<readonly Finding[]> {
  const isMissing = ([variables]: readonly [string, string]): boolean =>
    !eitherOf(variables).some((variable) => environment[variable]);
  const missing = Object.entries(needs).filter(isMissing);
  if (isMissing(token)) {
    if (installs.some((variable) => environment[variable])) return [];
    const all = inWords([token, ...missing].map(([variables, place]) => `${variables} (${place})`));
    const fix = `Set ${all}, unless the bot's code gives the adapter others.`;
    return [warning(name, `The bot has no credentials for ${name}.`, fix)];
  }
  if (missing.length > 0)
    return missing.map(([variables, place]) =>
      problem(name, `${variables} is not set.`, `Set it. You find it here: ${place}.`),
    );
  try {
    return await askPlatform(environment, ask);
  } catch {
    return [
      problem(name, `${name} cannot be reached.`, "Check the network, and the variable of its address."),
    ];
  }
}

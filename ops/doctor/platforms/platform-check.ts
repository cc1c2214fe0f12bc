import { problem, warning } from "../finding.ts";
import type { Finding } from "../finding.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A platform as `doctor` sees it. The variables are those that the adapters of the Chat SDK read by themselves. */
export interface PlatformCheck {
  readonly name: string;
  /** The package of its adapter. */
  readonly adapter: string;
  /** `A or B`: variables of which one has to be set for the bot to write there, and the place in which they are found. */
  readonly token: readonly [variables: string, place: string];
  /** Variables that stand for a token, which comes with each installation. @default none */
  readonly installs?: readonly string[];
  /**
   * Further variables without which the bot cannot work there, with the place in which each is found. Of `A or B` one is
   * enough.
   */
  readonly needs: Readonly<Record<string, string>>;
  /** Asks the platform, with calls that change nothing. Only called if nothing is missing. */
  readonly ask: (environment: Environment, ask: Ask) => Promise<readonly Finding[]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or undefined. */
  readonly body: unknown;
}

/** Makes one call with a time limit. Throws if there is no answer. */
export type Ask = (url: string, init?: RequestInit) => Promise<Answer>;

/** Returns what is wrong with an answer that should be 2xx, or undefined. Nothing of the answer's text is repeated. */
export function refusal(
  name: string,
  { status }: Pick<Answer, "status">,
  credential: string,
): Finding | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 429 || status >= 500)
    return warning(name, `${name} has a problem now (${status}).`, "Try again later.");
  return problem(name, `${name} refuses the credentials (${status}).`, `Check ${credential}.`);
}

/**
 * Checks the name by which people mention the bot, as the adapter takes it from a variable.
 *
 * @param name of the account that writes
 */
export function checkName(about: string, variable: string, known: string, name: string): readonly Finding[] {
  if (known.toLowerCase() === name.toLowerCase()) return [];
  const fix = `Set ${variable} to ${name}, unless the bot's code gives the adapter its \`userName\`.`;
  return [warning(about, `People mention @${name}, and the bot listens to @${known}.`, fix)];
}

/** The words of a list of things that a person has to add. */
export function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Returns the value of a JSON text, or undefined. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

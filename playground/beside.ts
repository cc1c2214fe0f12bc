import path from "node:path";
import { pathToFileURL } from "node:url";
import { ServeError } from "../ops/serve/serve-error.ts";

/** A program that runs beside the bot in development, such as a copy of the service that the bot's tools call. */
export interface Beside {
  /** Variables for the bot. Variables that are already set win. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Files of the internet as the simulated Telegram sees it, by address. */
  readonly webFiles?: ReadonlyMap<string, Uint8Array>;
  /** Sentences that the page offers in an empty chat. */
  readonly suggestions?: readonly string[];
  /** Lines for the table of addresses: a name and its address. */
  readonly addresses?: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Default export of the module that `--beside` names. Undefined: there is nothing to start. */
export type StartBeside = (options: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the bot talks to the simulator, not to Telegram. */
  readonly isSimulated: boolean;
}) => Promise<Beside | undefined>;

/**
 * Starts the program of a module.
 * @throws {ServeError} `beside` when the module cannot be loaded, or has no function as its default export
 */
export async function startBeside(
  file: string,
  options: Parameters<StartBeside>[0],
): Promise<Beside | undefined> {
  const module = await load(path.resolve(file));
  if (typeof module.default !== "function") {
    throw new ServeError("beside", `${file} (--beside) has to export a function as its default.`);
  }
  return (module.default as StartBeside)(options);
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServeError("beside", `${file} (--beside) cannot be loaded: ${reason}`);
  }
}

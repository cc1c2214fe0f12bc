import type { BotEnvironment } from "../ops/serve/env-files.ts";
import type { BotVariables } from "../ops/serve/serve-bot.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns a function that reads the variables of a bot under `switchboard dev`, at its start and at each reload.
 *
 * @param options.defaults variables that the bot gets unless a file or the process has them
 * @param options.fixed variables that `dev` has chosen at its start, for the bot and for everything around it
 */
export function createDevVariables(options: {
  /** Reads those of the process and of the bot's files. */
  readonly read: () => Promise<BotEnvironment>;
  readonly defaults: Environment;
  readonly fixed: Environment;
  readonly say: (line: string) => void;
}): () => Promise<BotVariables> {
  const { defaults, fixed, read, say } = options;
  let before: Environment | undefined;
  return async () => {
    const { names, values } = await read();
    const last = before ?? values;
    before = values;
    const later = Object.keys(fixed).filter((name) => values[name] !== last[name]);
    if (later.length > 0) say(`${later.join(", ")}: counts from the next start of switchboard dev.`);
    return { environment: { ...defaults, ...values, ...fixed }, passedOn: names };
  };
}

/**
 * Variables that every worker gets. It gets no other variable of the process, except those that the bot declares under
 * `vars` in its wrangler configuration.
 */
const PASSED_ON: ReadonlySet<string> = new Set([
  "ADMIN_TOKEN",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "DEBUG",
  "LOG_LEVEL",
  "MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ORDERS_API_URL",
  "PUBLIC_URL",
  "TEAM_USER_IDS",
  "TELEGRAM_API_BASE_URL",
  "TELEGRAM_BOT_TOKEN",
  "TELEGRAM_BOT_USERNAME",
  "TELEGRAM_WEBHOOK_SECRET_TOKEN",
  "TRANSCRIPTION_API_KEY",
  "TRANSCRIPTION_BASE_URL",
  "TRANSCRIPTION_MODEL",
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the sorted names of the variables that are set and that the worker gets as text bindings. */
export function bindingNames(environment: Environment, declared: readonly string[]): readonly string[] {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  return [...new Set([...PASSED_ON, ...declared])].filter(isSet).toSorted();
}

/** `this.env.NAME`, and the names in `const { NAME } = this.env`. */
const READS = /\bthis\.env\.([A-Z][A-Z0-9_]*)\b|\{([^{}]*)\}\s*=\s*this\.env\b/g;

/**
 * Returns the sorted names of set variables that a bot's code reads and does not get, because they are not declared.
 */
export function undeclaredNames(
  code: string,
  environment: Environment,
  passedOn: readonly string[],
): readonly string[] {
  const read = [...code.matchAll(READS)].flatMap(([, name, names = ""]) =>
    name === undefined ? (names.match(/\b[A-Z][A-Z0-9_]*\b/g) ?? []) : [name],
  );
  return [...new Set(read)]
    .filter((name) => (environment[name] ?? "") !== "" && !passedOn.includes(name))
    .toSorted();
}

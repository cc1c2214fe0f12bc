/** Variables that the Chat SDK's adapters read by themselves if they get no options. */
const OF_ADAPTERS: readonly string[] = [
  "DISCORD_API_URL",
  "DISCORD_APPLICATION_ID",
  "DISCORD_BOT_TOKEN",
  "DISCORD_MENTION_ROLE_IDS",
  "DISCORD_PUBLIC_KEY",
  "GITHUB_API_URL",
  "GITHUB_APP_ID",
  "GITHUB_BOT_USERNAME",
  "GITHUB_BOT_USER_ID",
  "GITHUB_INSTALLATION_ID",
  "GITHUB_PRIVATE_KEY",
  "GITHUB_TOKEN",
  "GITHUB_WEBHOOK_SECRET",
  "GOOGLE_CHAT_API_URL",
  "GOOGLE_CHAT_BOT_USER_ID",
  "GOOGLE_CHAT_CREDENTIALS",
  "GOOGLE_CHAT_PROJECT_NUMBER",
  "GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL",
  "LINEAR_ACCESS_TOKEN",
  "LINEAR_API_KEY",
  "LINEAR_API_URL",
  "LINEAR_BOT_USERNAME",
  "LINEAR_CLIENT_CREDENTIALS_CLIENT_ID",
  "LINEAR_CLIENT_CREDENTIALS_CLIENT_SECRET",
  "LINEAR_CLIENT_CREDENTIALS_SCOPES",
  "LINEAR_CLIENT_ID",
  "LINEAR_CLIENT_SECRET",
  "LINEAR_ENCRYPTION_KEY",
  "LINEAR_WEBHOOK_SECRET",
  "SLACK_API_URL",
  "SLACK_BOT_TOKEN",
  "SLACK_CLIENT_ID",
  "SLACK_CLIENT_SECRET",
  "SLACK_ENCRYPTION_KEY",
  "SLACK_SIGNING_SECRET",
  "TEAMS_API_URL",
  "TEAMS_APP_ID",
  "TEAMS_APP_PASSWORD",
  "TEAMS_APP_TENANT_ID",
  "WHATSAPP_ACCESS_TOKEN",
  "WHATSAPP_API_URL",
  "WHATSAPP_APP_SECRET",
  "WHATSAPP_BOT_USERNAME",
  "WHATSAPP_PHONE_NUMBER_ID",
  "WHATSAPP_VERIFY_TOKEN",
];

/**
 * Variables that every worker gets. It gets no other variable of the process, except those that the bot declares under
 * `vars` in its wrangler configuration.
 */
const PASSED_ON: ReadonlySet<string> = new Set([
  ...OF_ADAPTERS,
  "ADMIN_TOKEN",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "DEBUG",
  "LOG_LEVEL",
  "MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "ORDERS_API_URL",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_SERVICE_NAME",
  "PUBLIC_URL",
  "SECRETS_KEY",
  "SECRETS_KEYS_OLD",
  "SKILLS_FOLDER",
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

/** `this.env`, and the name of `this.env.NAME`. */
const USES = /\bthis\.env\b(?:\.([A-Z][A-Z0-9_]*)\b)?/g;
/** Ends with the names of `const { NAME } = this.env`, before `this.env`. */
const TAKES = /^\{([^{}]*)\}\s*=\s*$/;

/**
 * Returns the sorted names of set variables that a bot's code reads and does not get, because they are not declared.
 */
export function undeclaredNames(
  code: string,
  environment: Environment,
  passedOn: readonly string[],
): readonly string[] {
  const read = [...code.matchAll(USES)].flatMap(({ 1: name, index }) => {
    if (name !== undefined) return [name];
    const [, names = ""] = TAKES.exec(code.slice(Math.max(0, code.lastIndexOf("{", index)), index)) ?? [];
    return names.match(/\b[A-Z][A-Z0-9_]*\b/g) ?? [];
  });
  return [...new Set(read)]
    .filter((name) => (environment[name] ?? "") !== "" && !passedOn.includes(name))
    .toSorted();
}

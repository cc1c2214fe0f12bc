import { ServeError } from "../ops/serve/serve-error.ts";

/** How `switchboard dev` runs the bot. The variables that are already set decide. */
export interface PlaygroundPlan {
  /** False: updates come from Telegram, or from the server at TELEGRAM_API_BASE_URL. */
  readonly simulator: boolean;
  /** Source of the answers, for people. */
  readonly model: string;
  /** Source of the updates, for people. Never a token. */
  readonly telegram: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PUBLIC_API = "https://api.telegram.org";

/**
 * Decides which programs to start.
 * @throws {ServeError} when the variables for a real bot are incomplete
 */
export function planPlayground(environment: Environment): PlaygroundPlan {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const simulator = !isSet("TELEGRAM_BOT_TOKEN");
  if (simulator && isSet("TELEGRAM_API_BASE_URL")) {
    throw new ServeError(
      "incomplete",
      "TELEGRAM_API_BASE_URL is set, but TELEGRAM_BOT_TOKEN is not. Set both for a bot of your own, or neither for the simulator.",
    );
  }
  if (!simulator && !isSet("TELEGRAM_WEBHOOK_SECRET_TOKEN")) {
    throw new ServeError(
      "incomplete",
      "TELEGRAM_BOT_TOKEN is set, but TELEGRAM_WEBHOOK_SECRET_TOKEN is not. Choose a secret, and give the same to setWebhook.",
    );
  }
  return {
    simulator,
    model: describeModel(environment, isSet),
    telegram: simulator
      ? "simulated"
      : `your bot, through ${environment.TELEGRAM_API_BASE_URL || PUBLIC_API}`,
  };
}

function describeModel(environment: Environment, isSet: (name: string) => boolean): string {
  const name = isSet("MODEL") ? `${environment.MODEL}, ` : "";
  if (isSet("OPENAI_BASE_URL")) return `${name}OpenAI-compatible server at ${environment.OPENAI_BASE_URL}`;
  if (isSet("OPENAI_API_KEY")) return `${name}OpenAI`;
  if (isSet("ANTHROPIC_API_KEY")) return `${name}Anthropic`;
  return "built-in demo (set OPENAI_BASE_URL and MODEL, or ANTHROPIC_API_KEY, for a real one)";
}

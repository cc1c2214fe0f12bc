import { z } from "zod";
import { readConfiguration } from "../serve/bot-source.ts";
import { readControl } from "../serve/control-file.ts";
import { namesModel, SET_A_MODEL } from "../serve/model-setting.ts";
import { parseWorkerConfig } from "../serve/worker-config.ts";
import { wrongFields } from "../serve/wrong-fields.ts";
import { telegramInfo } from "../telegram/info.ts";
import { ok, problem, skipped, warning } from "./finding.ts";
import type { Finding } from "./finding.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const CALL_LIMIT_MS = 8_000;

/** Asks Telegram about the token and the webhook. */
export async function checkTelegram(
  environment: Environment,
  now: () => number,
): Promise<readonly Finding[]> {
  const token = environment.TELEGRAM_BOT_TOKEN ?? "";
  if (!/^\d{1,20}:[\w-]+$/.test(token))
    return [skipped("Telegram", "Without a token Telegram is not asked.")];
  const apiBaseUrl = environment.TELEGRAM_API_BASE_URL || undefined;
  const { createBotApi } = await import("../telegram/bot-api.ts");
  const api = createBotApi({ token, apiBaseUrl, timeoutSeconds: CALL_LIMIT_MS / 1000 });
  try {
    const { bot, state } = await telegramInfo({ api, now });
    const account = ok("Telegram", `The token belongs to ${bot}.`);
    return [account, { about: "webhook", ...findingOf(state) }];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [problem("Telegram", message)];
  }
}

function findingOf(state: Awaited<ReturnType<typeof telegramInfo>>["state"]): Omit<Finding, "about"> {
  const { fix = "Run: switchboard telegram info", kind, summary } = state;
  if (kind === "failing") return { status: "problem", message: summary, fix };
  if (kind === "none") return { status: "warning", message: summary, fix };
  return { status: "ok", message: summary };
}

/**
 * Asks the model's server whether it takes the key, with a call that costs nothing.
 *
 * @param configFile the bot's configuration, which may bind Workers AI
 */
export async function checkModel(environment: Environment, configFile: string): Promise<Finding> {
  const about = "model";
  const target = modelTarget(environment);
  if (target === undefined)
    return (await bindsModel(configFile))
      ? skipped(about, "The bot's model is not one of the variables.")
      : warning(about, "No model is set.", SET_A_MODEL);
  let status: number;
  try {
    const response = await fetch(target.url, {
      headers: target.headers,
      redirect: "manual",
      signal: AbortSignal.timeout(CALL_LIMIT_MS),
    });
    await response.body?.cancel();
    ({ status } = response);
  } catch {
    return problem(about, `${target.origin} cannot be reached.`, `Check ${target.variable} and the network.`);
  }
  if (status === 401 || status === 403) {
    return problem(about, `${target.origin} refuses the key (${status}).`, `Check ${target.key}.`);
  }
  if (status >= 500) {
    return warning(
      about,
      `${target.origin} has a problem now (${status}).`,
      "Try again later. The bot waits and tries again, too.",
    );
  }
  // Some servers have no list of models.
  return ok(about, `${target.origin} answers.`);
}

/** Whether a configuration names a model. False if it cannot be read, which another check reports. */
async function bindsModel(configFile: string): Promise<boolean> {
  const config = await readConfiguration(configFile)
    .then((text) => parseWorkerConfig(text, configFile))
    .catch(() => undefined);
  return config !== undefined && namesModel({}, config);
}

function modelTarget(environment: Environment):
  | {
      readonly url: string;
      readonly origin: string;
      readonly variable: string;
      readonly key: string;
      readonly headers: Record<string, string>;
    }
  | undefined {
  const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL } = environment;
  if (OPENAI_BASE_URL || OPENAI_API_KEY) {
    const base = OPENAI_BASE_URL || "https://api.openai.com/v1";
    return {
      url: `${base.replace(/\/+$/, "")}/models`,
      origin: URL.parse(base)?.origin ?? "The model's server",
      variable: "OPENAI_BASE_URL",
      key: "OPENAI_API_KEY",
      headers: OPENAI_API_KEY ? { authorization: `Bearer ${OPENAI_API_KEY}` } : {},
    };
  }
  if (!ANTHROPIC_API_KEY) return undefined;
  const base = ANTHROPIC_BASE_URL || "https://api.anthropic.com/v1";
  return {
    url: `${base.replace(/\/+$/, "")}/models`,
    origin: URL.parse(base)?.origin ?? "The model's server",
    variable: "ANTHROPIC_BASE_URL",
    key: "ANTHROPIC_API_KEY",
    headers: { "x-api-key": ANTHROPIC_API_KEY, "anthropic-version": "2023-06-01" },
  };
}

const healthSchema = z.object({
  agent: z.string(),
  problem: z.object({ message: z.string() }).optional(),
  warnings: z.array(z.object({ message: z.string() })).default([]),
});

/** Asks the running bot for its health. */
export async function checkBot(url: string | undefined, dataDirectory: string): Promise<readonly Finding[]> {
  const address = url ?? (await readControl(dataDirectory))?.url;
  if (address === undefined) return [skipped("bot", "No bot runs on this data directory.")];
  let body: unknown;
  try {
    const response = await fetch(new URL("/health", address), { signal: AbortSignal.timeout(CALL_LIMIT_MS) });
    body = await response.json();
  } catch {
    return [problem("bot", `The bot at ${address} does not answer.`, "See its log, and start it again.")];
  }
  const { data, error } = healthSchema.safeParse(body);
  if (data === undefined) {
    const message = `${address} does not answer like a bot (${wrongFields(error)}).`;
    return [problem("bot", message, "Check the address and what runs there.")];
  }
  const state =
    data.problem === undefined
      ? ok("bot", `${data.agent} at ${address} can answer.`)
      : problem("bot", `${data.agent} cannot answer: ${data.problem.message}`);
  return [state, ...data.warnings.map(({ message }) => warning("bot", message))];
}

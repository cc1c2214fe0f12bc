import { askHealth } from "./health.ts";
import { watchHealth } from "./health-watch.ts";
import type { HealthWatch } from "./health-watch.ts";
import type { ServeFields } from "./log/serve-log.ts";
import { askFacts } from "./running-bot.ts";
import type { BotServer, ServeOptions } from "./serve-bot.ts";
import { ServeError } from "./serve-error.ts";
import { shortPath } from "./short-path.ts";

/**
 * Logs that the bot is ready, or in one sentence why it is not, and every later change. In both cases the server keeps
 * running, and `/health` has the same sentence. Returns undefined if the bot says nothing about itself.
 */
export async function reportHealth(
  { adminToken, health, url }: Pick<BotServer, "adminToken" | "health" | "url">,
  { dataDirectory, say, stopped }: Pick<ServeOptions, "dataDirectory" | "say" | "stopped">,
): Promise<HealthWatch | undefined> {
  if (health === undefined) return undefined;
  const data = shortPath(dataDirectory);
  const where = `on ${url} (data in ${data})`;
  if (health.kind === "foreign") {
    const text = `running ${where}, but GET /health answers ${health.status}: is this the Worker of createWorker()?`;
    say(text, "serve.running", { url, isReady: false, data });
    return undefined;
  }
  const problem = health.kind === "problem" ? health.message : undefined;
  const isReady = problem === undefined;
  const state = isReady ? `ready ${where}` : `running ${where}, but not ready: ${problem}`;
  const running = (text: string, fields: ServeFields): void =>
    say(text, "serve.running", { url, isReady, ...fields, data });
  try {
    const { agent, messengers, model } = await askFacts(url, adminToken);
    const webhooks = messengers.map(({ path: webhook }) => `${url}${webhook}`).join(" ") || undefined;
    const who = isReady ? `: ${agent} with ${model ?? "no model"}` : "";
    running(`${state}${who}`, { bot: agent, model, webhooks });
  } catch (error) {
    if (!(error instanceof ServeError)) throw error;
    // A bot without messengers or with a broken model cannot describe itself. Its problem says that already.
    const isSaid = !isReady && error.code === "bot-failed";
    running(
      isSaid ? state : `${state.replace(/\.$/, "")}. Its model and webhooks are not known: ${error.message}`,
      {},
    );
  }
  return watchHealth(() => askHealth(url), health, { say, stopped });
}

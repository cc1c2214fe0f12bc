import { z } from "zod";
import { askBot } from "../serve/running-bot.ts";
import { ServeError } from "../serve/serve-error.ts";
import { wrongFields } from "../serve/wrong-fields.ts";

const PATH = "/switchboard/tokens";

const recordSchema = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  person: z.object({ messenger: z.string(), userId: z.string() }).optional(),
  perMinute: z.number(),
  atOnce: z.number(),
  createdAt: z.number(),
  expiresAt: z.number(),
  lastUsedAt: z.number().optional(),
  revokedAt: z.number().optional(),
});
const madeSchema = z.object({ token: z.string(), record: recordSchema });
const listSchema = z.object({ tokens: z.array(recordSchema) });

/** A token of a bot, without its secret. Times are epoch milliseconds. */
export type BotToken = z.infer<typeof recordSchema>;

/** A new token, as the bot takes it. */
export interface AskedToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly person: { readonly messenger: string; readonly userId: string } | undefined;
  readonly days: number;
  readonly perMinute: number;
  readonly atOnce: number;
}

/** How the operator reaches a bot. */
export interface ReachedBot {
  readonly url: string;
  readonly adminToken: string | undefined;
}

/** Makes a token. Its text is nowhere else than in the result. */
export async function createToken(
  bot: ReachedBot,
  asked: AskedToken,
): Promise<{ readonly token: string; readonly record: BotToken }> {
  const answer = await ask(bot, PATH, { method: "POST", body: JSON.stringify(asked) });
  return parsed(madeSchema, answer, bot);
}

/** Newest first. Ended tokens are listed for 90 days. */
export async function listTokens(bot: ReachedBot): Promise<readonly BotToken[]> {
  return parsed(listSchema, await ask(bot, PATH, {}), bot).tokens;
}

/** @throws {ServeError} `token-unknown` */
export async function revokeToken(bot: ReachedBot, id: string): Promise<void> {
  const known = await listTokens(bot);
  if (!known.some((one) => one.id === id))
    throw new ServeError(
      "token-unknown",
      `The bot has no token ${id}. \`switchboard token list\` lists them.`,
    );
  await ask(bot, `${PATH}/${id}`, { method: "DELETE" });
}

async function ask(
  { adminToken, url }: ReachedBot,
  path: string,
  init: { readonly method?: string; readonly body?: string },
): Promise<unknown> {
  try {
    return await askBot(url, path, adminToken, init);
  } catch (error) {
    if (!(error instanceof ServeError) || error.code !== "bot-not-recognized") throw error;
    throw new ServeError(
      "mcp-missing",
      `The bot at ${url} takes no tokens. Give its class a server, \`static override mcpServer = mcpServer({ app: "shop" })\` of "switchboard/mcp", and deploy it.`,
    );
  }
}

function parsed<T>(schema: z.ZodType<T>, answer: unknown, { url }: ReachedBot): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new ServeError(
    "bot-not-recognized",
    `${url}${PATH} does not answer like a bot of this version (${wrongFields(result.error)}).`,
  );
}

import { z } from "zod";
import { askJson, type JsonAnswer } from "./ask-json.ts";
import { ServeError } from "./serve-error.ts";
import { wrongFields } from "./wrong-fields.ts";

/** A messenger of a running bot, as the bot describes it to its operator. */
export interface MessengerFacts {
  readonly id: string;
  readonly provider: string;
  /** Path of its webhook. */
  readonly path: string;
  /** Kinds of updates that it handles. Undefined if the platform has no such choice. */
  readonly updates?: readonly string[] | undefined;
  /** Commands of its menu. */
  readonly commands: readonly { readonly name: string }[];
}

/** A running bot, as it describes itself. */
export interface BotFacts {
  /** Name of its class. */
  readonly agent: string;
  /** Provider and name of its model. */
  readonly model?: string | undefined;
  readonly messengers: readonly MessengerFacts[];
}

const answerSchema = z.object({
  agent: z.string(),
  model: z.string().optional(),
  messengers: z.array(
    z.object({
      id: z.string(),
      provider: z.string(),
      path: z.string(),
      updates: z.array(z.string()).optional(),
      commands: z.array(z.object({ name: z.string() })),
    }),
  ),
});

const ANSWER_TIMEOUT_MS = 20_000;

/**
 * Asks a running bot who it is.
 *
 * @param url address of the bot, without a path
 * @throws {ServeError} if it cannot be reached or does not accept the token; the message says how to fix it
 */
export async function askFacts(url: string, adminToken: string | undefined): Promise<BotFacts> {
  const answer = await askBot(url, "/switchboard/bot", adminToken);
  const parsed = answerSchema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const reason = answer === undefined ? "no JSON" : wrongFields(parsed.error);
  throw new ServeError(
    "bot-not-recognized",
    `${url}/switchboard/bot does not answer like a bot of this version (${reason}). Is the address right, and do the bot and this command have the same version?`,
  );
}

/**
 * Asks a running bot something that only its operator may know.
 *
 * @throws {ServeError} if it cannot be reached or does not accept the token; the message says how to fix it
 */
export async function askBot(
  url: string,
  path: string,
  adminToken: string | undefined,
  init: { readonly method?: string; readonly body?: string } = {},
): Promise<unknown> {
  const address = new URL(path, url);
  if (adminToken === undefined || adminToken === "") {
    throw new ServeError(
      "admin-token-missing",
      "ADMIN_TOKEN is not set, so the bot cannot be asked. Choose a long random value, set it for the bot and for this command, and restart the bot.",
    );
  }
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  let answer: JsonAnswer;
  try {
    answer = await askJson(address, { ...init, headers: { authorization: `Bearer ${adminToken}` }, signal });
  } catch (error) {
    const reason = signal.aborted ? "no answer in time" : networkReason(error);
    throw new ServeError(
      "bot-unreachable",
      `The bot cannot be reached at ${address.origin} (${reason}). Start it. If this machine reaches it at another address, name that: --bot of telegram setup, --url of doctor.`,
    );
  }
  const { body, status } = answer;
  if (status >= 200 && status < 300) return body;
  switch (status) {
    case 401:
      throw new ServeError(
        "admin-token-refused",
        `The bot at ${address.origin} refuses ADMIN_TOKEN. It must have the same value for the bot and for this command.`,
      );
    case 404:
      throw new ServeError(
        "bot-not-recognized",
        `${address.href} is not found, so that is no bot of this version. Is the address right, and is the newest version deployed?`,
      );
    default: {
      const words = problemSchema.safeParse(body).data?.error.message;
      throw new ServeError(
        "bot-failed",
        `The bot at ${address.origin} answered ${status}${words === undefined ? "" : `: ${words}`}`,
      );
    }
  }
}

const problemSchema = z.object({ error: z.object({ message: z.string() }) });

function networkReason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no connection";
}

const workSchema = z.object({ open: z.number() });

/** Asks a bot of this machine how many of its conversations have something to do within seconds. 0 if it does not say. */
export async function askOpenWork(url: string, adminToken: string): Promise<number> {
  try {
    return workSchema.parse(await askBot(url, "/switchboard/work", adminToken)).open;
  } catch {
    // It has ended, or is no bot of this version. In both cases there is nothing to wait for.
    return 0;
  }
}

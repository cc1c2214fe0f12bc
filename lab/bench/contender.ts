import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiCall, SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import { startScriptedModel, type ScriptedModel } from "../support/scripted-model.ts";
import { startServedBot, type ServedBot } from "../support/served-bot.ts";
import { lastTokenTimes, replyScript } from "./reply-script.ts";
import { createWebhookClient, type WebhookClient } from "./webhook-client.ts";

/** Kind of the chats in which people write. `by-person`: private chats, with conversations that follow a person. */
export type ChatsKind = "private" | "group" | "forum" | "by-person";

/**
 * `now:` and `before:`: the plain bot on these sources and on those of another checkout. `consent`: a bot with actions.
 * `content`: a bot whose commands send a card and a document. `schedules`: one whose conversations have a task each.
 * `group`, `forum`: the shipped bot in such chats. `by-person`: its conversations follow a person.
 */
export type ContenderName =
  | `${"now" | "before"}:${ChatsKind}`
  | "switchboard"
  | "content"
  | "consent"
  | "schedules"
  | "group"
  | "forum"
  | "by-person"
  | "think"
  | "bare"
  | "bare+hop";

interface Description {
  readonly config: string;
  readonly path: string;
  readonly isBot: boolean;
  /** Kind of the chats in which people write. @default "private" */
  readonly chats?: ChatsKind;
}

const root = path.resolve(import.meta.dirname, "../..");
const WEBHOOK = "/messengers/telegram/webhook";
const SECRET = "bench-webhook-secret";

type OwnName = Exclude<ContenderName, `${string}:${ChatsKind}`>;

const DESCRIPTIONS: Readonly<Record<OwnName, Description>> = {
  switchboard: { config: "wrangler.jsonc", path: WEBHOOK, isBot: true },
  content: { config: "lab/bench/switchboard/content.jsonc", path: WEBHOOK, isBot: true },
  consent: { config: "lab/bench/switchboard/consent.jsonc", path: WEBHOOK, isBot: true },
  schedules: { config: "lab/bench/switchboard/schedules.jsonc", path: WEBHOOK, isBot: true },
  group: { config: "wrangler.jsonc", path: WEBHOOK, isBot: true, chats: "group" },
  forum: { config: "wrangler.jsonc", path: WEBHOOK, isBot: true, chats: "forum" },
  "by-person": { config: "lab/bench/switchboard/by-person.jsonc", path: WEBHOOK, isBot: true },
  think: { config: "lab/bench/peers/think/wrangler.jsonc", path: WEBHOOK, isBot: true },
  bare: { config: "lab/bench/baseline/wrangler.jsonc", path: WEBHOOK, isBot: false },
  "bare+hop": { config: "lab/bench/baseline/wrangler.jsonc", path: `/hop${WEBHOOK}`, isBot: false },
};

/** Configurations whose worker also counts rows. */
const COUNTING: Partial<Record<ContenderName, string>> = {
  switchboard: "lab/bench/switchboard/wrangler.jsonc",
  think: "lab/bench/peers/think/wrangler.jsonc",
};

/** The plain bot on the sources of other checkouts: paths of configurations. */
export interface OtherSources {
  /** @default these sources */
  readonly now?: string | undefined;
  readonly before?: string | undefined;
}

function describe(name: ContenderName, sources: OtherSources): Description {
  if (Object.hasOwn(DESCRIPTIONS, name)) return DESCRIPTIONS[name as OwnName];
  const [version, chats] = name.split(":") as ["now" | "before", ChatsKind];
  const config = version === "now" ? (sources.now ?? "lab/bench/switchboard/plain.jsonc") : sources.before;
  if (config === undefined) throw new Error("Name the other checkout: --against FOLDER");
  return { config, path: WEBHOOK, isBot: true, chats };
}

export function isPeerInstalled(): boolean {
  return existsSync(path.join(root, "lab/bench/peers/node_modules/@cloudflare/think/package.json"));
}

/** One server under measurement, with a platform and a model of its own. */
export interface Contender {
  readonly name: ContenderName;
  readonly isBot: boolean;
  readonly bot: ServedBot;
  readonly simulator: Simulator;
  readonly model: ScriptedModel;
  readonly client: WebhookClient;
  /** A chat with a person who has not written yet: private, or a group or a topic of a forum of their own. */
  freshChat(): BenchChat;
  /** An update that is stored and then ignored: a message in a group that does not address the bot. */
  chatter(group: number): object;
  /** An update that is stored and then ignored: an edit of a message that was answered long ago. */
  edit(chat: BenchChat): object;
  /** Stops the bot, runs `work` on its storage, and starts it again. */
  whileStopped(work: (dataDirectory: string) => void): Promise<void>;
  /** Writes to the bot, and resolves when the reply is complete or the time is over. */
  ask(chat: BenchChat, question: string, timeoutMs?: number): Promise<Answer>;
  /** Sends a command, and resolves to the first successful call that the bot makes with one of these methods. */
  command(chat: BenchChat, command: string, methods: readonly string[]): Promise<Reaction>;
  /** Presses the first button of a message. Otherwise as `command`. */
  press(chat: BenchChat, messageId: number, methods: readonly string[]): Promise<Reaction>;
  close(): Promise<void>;
}

export interface Reaction {
  /** Time from the first byte of the webhook to the arrival of the call. `NaN` if none came in time. */
  readonly afterMs: number;
  /** The message that the call made, if it made one. */
  readonly messageId: number;
}

export interface BenchChat {
  readonly chat: SimChat;
  readonly userId: number;
  /** The topic, in a forum. */
  readonly threadId?: number;
}

export interface Answer {
  /** Names the question; part of its text, after a `#`. */
  readonly key: string;
  /** Time from the first byte of the webhook to its answer. */
  readonly webhookMs: number;
  /** Time from the webhook's first byte to the arrival of the first call that shows text. */
  readonly firstTextMs: number;
  /** Time from the model's last token to the arrival of the call that shows the whole text. */
  readonly finalTextMs: number;
  readonly calls: readonly ApiCall[];
  readonly isComplete: boolean;
}

/**
 * The end of every reply; no other text contains it. It has no punctuation, because a platform's markup may escape
 * that.
 */
export const END_MARK = "DONE";
/** Opens the administrator's routes of the measured bots. */
export const BENCH_ADMIN_TOKEN = "bench-admin-token";
const POLL_MS = 20;
const REACTION_TIMEOUT_MS = 30_000;

export interface ContenderOptions {
  readonly countsRows?: boolean;
  readonly sources?: OtherSources;
}

export async function startContender(
  name: ContenderName,
  options: ContenderOptions = {},
): Promise<Contender> {
  const description = describe(name, options.sources ?? {});
  const model = await startScriptedModel();
  model.script(replyScript);
  const simulator = await startSimulator({ callLimit: 1_000_000 });
  // The simulator models only blocks, which the peer does not send, so no server here knows rich messages.
  simulator.fault({ kind: "rich-refused", unknown: true, times: Infinity });
  const config = options.countsRows === true ? (COUNTING[name] ?? description.config) : description.config;
  const bot = await startServedBot({
    config: path.resolve(root, config),
    env: {
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: SECRET,
      TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
      TELEGRAM_API_BASE_URL: simulator.url,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
      MODEL: "scripted",
      ADMIN_TOKEN: BENCH_ADMIN_TOKEN,
      ...(options.countsRows === true && { COUNT_ROWS: "1" }),
      ...(description.chats === "by-person" && { BY_PERSON: "1" }),
    },
  });
  const client = createWebhookClient(`${bot.url}${description.path}`, SECRET, 512);
  const callsTo = indexCalls(simulator);
  let updateId = 500_000_000;
  let groupMessageId = 0;
  const nextUpdateId = (): number => (updateId += 1);
  const reactionTo = async (
    { chat }: BenchChat,
    update: object,
    methods: readonly string[],
  ): Promise<Reaction> => {
    const callsBefore = simulator.calls().length;
    const startedAt = Date.now();
    await client.post({ update_id: nextUpdateId(), ...update });
    while (Date.now() < startedAt + REACTION_TIMEOUT_MS) {
      const call = simulator
        .calls()
        .slice(callsBefore)
        .find(({ chatId, method, outcome }) => {
          // The answer to a press names no chat.
          const isHere = chatId === undefined || chatId === chat.id;
          return isHere && outcome === "ok" && methods.includes(method);
        });
      if (call !== undefined)
        return { afterMs: call.at - startedAt, messageId: simulator.messages(chat).at(-1)?.id ?? 0 };
      await delay(POLL_MS);
    }
    return { afterMs: Number.NaN, messageId: 0 };
  };

  return {
    name,
    isBot: description.isBot,
    bot,
    simulator,
    model,
    client,
    freshChat() {
      const user = simulator.addUser();
      const { chats = "private" } = description;
      if (chats === "private" || chats === "by-person")
        return { chat: simulator.privateChat(user), userId: user.id };
      const isForum = chats === "forum";
      const chat = simulator.addGroup({ title: "Group", forum: isForum, members: [user] });
      return { chat, userId: user.id, ...(isForum && { threadId: simulator.addTopic(chat, "Topic") }) };
    },
    chatter(group) {
      groupMessageId += 1;
      return {
        update_id: nextUpdateId(),
        message: {
          message_id: groupMessageId,
          date: Math.floor(Date.now() / 1000),
          chat: { id: -1_000_000_000_000 - group, type: "supergroup", title: `Group ${group}` },
          from: { id: 42, is_bot: false, first_name: "Ada", username: "ada" },
          text: "Has anybody tried the new beans from the shop at the corner?",
        },
      };
    },
    edit({ chat, userId }) {
      const date = Math.floor(Date.now() / 1000);
      return {
        update_id: nextUpdateId(),
        edited_message: {
          message_id: 1,
          date: date - 60,
          edit_date: date,
          chat: { id: chat.id, type: "private", first_name: "Ada" },
          from: { id: userId, is_bot: false, first_name: "Ada" },
          text: `What was said before, in other words: ${updateId}`,
        },
      };
    },
    async whileStopped(work) {
      await bot.stop();
      work(bot.dataDirectory);
      await bot.restart();
      client.close();
    },
    async ask({ chat, userId, threadId }, question, timeoutMs = 20_000) {
      const callsBefore = callsTo(chat.id).length;
      const key = `${name}/${chat.id}/${callsBefore}`;
      const mention = chat.type === "private" ? "" : `@${simulator.bot.username ?? ""} `;
      const message = simulator.sendText(
        chat,
        userId,
        `${mention}${question} #${key}`,
        threadId === undefined ? {} : { threadId },
      );
      const startedAt = Date.now();
      const webhookMs = await client.post({ update_id: nextUpdateId(), message });
      const deadline = startedAt + timeoutMs;
      for (;;) {
        const calls = callsTo(chat.id).slice(callsBefore);
        const final = calls.find((call) => call.outcome === "ok" && textOf(call).endsWith(END_MARK));
        if (final !== undefined || Date.now() > deadline) {
          const first = calls.find((call) => call.outcome === "ok" && textOf(call) !== "");
          const lastTokenAt = lastTokenTimes.get(key) ?? Number.NaN;
          return {
            key,
            webhookMs,
            firstTextMs: (first?.at ?? Number.NaN) - startedAt,
            finalTextMs: (final?.at ?? Number.NaN) - lastTokenAt,
            calls,
            isComplete: final !== undefined,
          };
        }
        await delay(POLL_MS);
      }
    },
    command: (chat, command, methods) =>
      reactionTo(chat, { message: simulator.sendText(chat.chat, chat.userId, command) }, methods),
    press({ chat, ...more }, messageId, methods) {
      const message = simulator.messages(chat).find(({ id }) => id === messageId);
      const label = message?.buttons[0]?.[0]?.text ?? "";
      const query = simulator.pressButton(chat, more.userId, messageId, label);
      return reactionTo({ chat, ...more }, { callback_query: query }, methods);
    },
    async close() {
      client.close();
      await bot.close();
      await simulator.close();
      await model.close();
    },
  };
}

/**
 * Returns the calls of a chat so far. The simulator searches all of its calls for each request, which would make
 * measuring the slowest part of a run with a hundred chats.
 */
function indexCalls(simulator: Simulator): (chatId: number) => readonly ApiCall[] {
  const byChat = new Map<number, ApiCall[]>();
  let seen = 0;
  let refreshedAt = 0;
  return (chatId) => {
    if (performance.now() - refreshedAt >= POLL_MS) {
      const all = simulator.calls();
      for (const call of all.slice(seen)) {
        if (call.chatId === undefined) continue;
        const calls = byChat.get(call.chatId) ?? [];
        byChat.set(call.chatId, calls);
        calls.push(call);
      }
      seen = all.length;
      refreshedAt = performance.now();
    }
    return byChat.get(chatId) ?? [];
  };
}

function textOf(call: ApiCall): string {
  const { text } = call.payload;
  return typeof text === "string" ? text.trimEnd() : "";
}

/** Starts contenders one after the other, and always ends all of them. */
export async function withContenders<Result>(
  names: readonly ContenderName[],
  body: (contenders: readonly Contender[]) => Promise<Result>,
  options: ContenderOptions = {},
): Promise<Result> {
  const started: Contender[] = [];
  try {
    for (const name of names) started.push(await startContender(name, options));
    return await body(started);
  } finally {
    for (const contender of started) await contender.close();
  }
}

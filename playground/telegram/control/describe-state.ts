import { serviceWords } from "../chats/service-words.ts";
import type { ChatState, StoredMessage, World } from "../chats/world.ts";
import type { Updates } from "../webhook/updates.ts";
import type { WebhookDelivery } from "../webhook/webhook-delivery.ts";
import type { BotDoor, Simulator } from "./contract.ts";
import type { Faults } from "./faults.ts";

/** The parts of a simulator whose state is shown. */
export interface StateSources {
  readonly simulator: Simulator;
  readonly world: World;
  readonly delivery: WebhookDelivery;
  readonly updates: Updates;
  readonly faults: Faults;
  /** The bot's own reason why it cannot answer. */
  readonly botProblem: () => string | undefined;
  /** The door of the bot that the playground serves. */
  readonly botDoor: () => BotDoor | undefined;
  /** Sentences that the page offers in an empty chat. */
  readonly suggestions: readonly string[];
}

/** An entry of a list, which has a number of its own. */
export interface Numbered {
  readonly id: number;
}

type Described = Readonly<Record<string, unknown>>;

/** Returns what a person sees beside the open chat: all chats, people, faults, the bot and its webhook. */
export function describeState(sources: StateSources): object {
  return { now: sources.world.clock.now(), ...describeTimeless(sources) };
}

/** Returns the state without the time, so that it is the same as long as nothing has changed. */
export function describeTimeless(sources: StateSources): Described & { readonly chats: readonly Numbered[] } {
  const { botDoor, botProblem, delivery, faults, simulator, suggestions, updates, world } = sources;
  return {
    bot: simulator.bot,
    suggestions,
    clockShiftMs: botDoor()?.shiftMs(),
    users: simulator.users(),
    chats: [...world.chats.values()].map((chat) => describeChat(world, chat)),
    webhook: { ...webhookState(updates, delivery), botProblem: botProblem() },
    faults: faults.list().map(({ id, rule, left }) => ({
      id,
      kind: rule.kind,
      method: rule.method === undefined ? undefined : String(rule.method),
      left: Number.isFinite(left) ? left : -1,
    })),
  };
}

/** Returns the state of the webhook. `problem` is set only while updates wait because of it. */
function webhookState(updates: Updates, delivery: WebhookDelivery): object {
  const waiting = [...updates.pending.values()];
  const hasFailed = waiting.some((record) => record.attempts.length > 0);
  return {
    url: delivery.target?.url,
    problem: hasFailed ? delivery.lastError?.message : undefined,
    pending: waiting.length,
  };
}

function describeChat(world: World, chat: ChatState): Described & Numbered {
  const last = [...chat.messages.values()].at(-1);
  return {
    id: chat.id,
    type: chat.type,
    title: chat.title,
    isForum: chat.isForum,
    members: [...chat.members],
    topics: [...chat.topics].map(([threadId, name]) => ({ threadId, name })),
    blocked: chat.blocked,
    botStatus: chat.botStatus,
    last: last === undefined ? undefined : lastMessage(last),
    action: world.actionIn(chat),
  };
}

/** Returns the last message of a chat. `at` is the time at which it arrived, in milliseconds; edits do not count. */
function lastMessage(message: StoredMessage): object {
  const at = message.versions[0]?.at ?? message.date * 1000;
  return { text: previewOf(message), date: message.date, at, fromId: message.from.id };
}

function previewOf(message: StoredMessage): string {
  if (message.text !== "") return message.text;
  if (message.service !== undefined) return serviceWords(message.service, message.from);
  const kind = Object.keys(message.media ?? {})[0] ?? "message";
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll("_", " ")}`;
}

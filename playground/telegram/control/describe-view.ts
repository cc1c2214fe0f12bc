import { z } from "zod";
import { commandsIn } from "../chats/command-menu.ts";
import type { ChatState } from "../chats/world.ts";
import type { ApiCall } from "./api-log.ts";
import type { Simulator } from "./contract.ts";
import { describeTimeless } from "./describe-state.ts";
import type { Numbered, StateSources } from "./describe-state.ts";

const UPDATES_SHOWN = 150;
const CALLS_SHOWN = 300;
/** A bot's message that has changed within this time may still be growing. */
const GROWS_FOR_MS = 2500;
/** Clients show for this time that they wait for the answer to a press. */
const WAITS_FOR_MS = 15_000;

const id = z.coerce.number().int();

/** The parts of the page that are open. */
export const viewSchema = z.object({
  chatId: id.optional(),
  threadId: id.optional(),
  /** The person who writes. @default the person of a private chat, the first member of a group */
  userId: id.optional(),
  /** The open log. @default none */
  log: z.enum(["updates", "calls"]).optional(),
});

export interface ViewSources extends StateSources {
  /** The bot's commands, by scope and language. */
  readonly commands: ReadonlyMap<string, readonly object[]>;
}

/** Everything that the page shows. */
export interface View {
  readonly state: object;
  /** The open chat. Undefined if it does not exist. */
  readonly chat?: object;
  /** What grows, by name: the chats, the messages of the open chat, and the open log. */
  readonly lists: Readonly<Record<string, readonly Numbered[]>>;
}

/** Returns everything that the page shows. */
export function describeView(
  sources: ViewSources,
  { chatId, log, threadId, userId }: z.infer<typeof viewSchema>,
): View {
  const { simulator, world } = sources;
  const { chats, ...state } = describeTimeless(sources);
  const chat = chatId === undefined ? undefined : world.chats.get(chatId);
  return {
    state,
    ...(chat !== undefined && { chat: describeOpenChat(sources, chat, threadId, userId) }),
    lists: {
      chats,
      ...(chat !== undefined && { messages: describeMessages(sources, chat, threadId) }),
      ...(log === "updates" && { updates: simulator.updates().slice(-UPDATES_SHOWN) }),
      ...(log === "calls" && {
        calls: describeCalls(simulator, CALLS_SHOWN).map((call) => ({ ...call, id: call.number })),
      }),
    },
  };
}

function describeMessages(
  { simulator, world }: ViewSources,
  { id: chatId }: ChatState,
  threadId: number | undefined,
): readonly Numbered[] {
  const now = world.clock.now();
  // The page shows how often a message has changed. Each version of a long text is as long as the text.
  return simulator
    .messages(chatId, threadId === undefined ? {} : { threadId })
    .map(({ history, ...message }) => ({
      ...message,
      versions: history.length,
      isGrowing: message.from.isBot && now - (history.at(-1)?.at ?? 0) < GROWS_FOR_MS,
    }));
}

function describeOpenChat(
  { commands, simulator, world }: ViewSources,
  chat: ChatState,
  threadId: number | undefined,
  userId: number | undefined,
): object {
  const now = world.clock.now();
  const writer = world.users.get(userId ?? [...chat.members][0] ?? chat.id);
  return {
    typing: world.actionIn(chat, threadId),
    draft: simulator.draft(chat.id),
    callbackAnswers: simulator
      .callbackAnswers()
      .filter((answer) => answer.chatId === chat.id)
      .map((answer) => ({
        ...answer,
        isWaiting: answer.answeredAt === undefined && now - answer.pressedAt < WAITS_FOR_MS,
      })),
    commands: writer === undefined ? [] : commandsIn(chat, writer, commands),
  };
}

/** Returns the newest calls, without the answers, which are as long as the messages in them. */
export function describeCalls(simulator: Simulator, limit: number): readonly Omit<ApiCall, "answer">[] {
  return simulator
    .calls()
    .slice(-limit)
    .map(({ answer: _answer, ...call }) => call);
}

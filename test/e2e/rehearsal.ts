/** What the end-to-end tests share: a script per message, and what the bot made visible. */
import type { Message, User } from "grammy/types";
import type { SimChat, VisibleMessage } from "../../playground/telegram/simulator.ts";
import type { ModelRequest } from "../../lab/support/model-request.ts";
import { say, type ModelStep } from "../../lab/support/model-script.ts";
import type { Rig } from "../../lab/support/rig.ts";
import { lastUserText, textOf } from "../../lab/support/scripted-model.ts";

/** Longest wait for something that must come; a test that waits so long has failed. */
export const SOON = { timeoutMs: 60_000 };

export interface Rehearsal {
  /**
   * What the model does with the calls that answer a message with `cue` in its text: the first call, the second and
   * so on; the last script stays for all further calls. A message without a script is answered "Noted."
   */
  on(cue: string, ...scripts: readonly (readonly ModelStep[])[]): void;
  /** The model's calls that answered a message with `cue` in its text. */
  requests(cue: string): readonly ModelRequest[];
}

/** Lets several tests share one model without disturbing each other. Cues must be unique. */
export function rehearse(rig: Rig): Rehearsal {
  const scripts = new Map<string, readonly (readonly ModelStep[])[]>();
  const played = new Map<string, number>();
  rig.model.script((request) => {
    const asked = lastUserText(request);
    const [cue, known] = [...scripts].find(([candidate]) => asked.includes(candidate)) ?? ["", []];
    const calls = played.get(cue) ?? 0;
    played.set(cue, calls + 1);
    return known[Math.min(calls, known.length - 1)] ?? [say("Noted.")];
  });
  return {
    on: (cue, ...steps) => void scripts.set(cue, steps),
    requests: (cue) => rig.model.requests().filter((request) => lastUserText(request).includes(cue)),
  };
}

/** A person in a private chat with the bot. */
export interface Person {
  readonly user: User;
  readonly chat: SimChat;
  /** `later`: so many minutes after now, by the clock of Telegram, so that it belongs to no burst. */
  readonly write: (text: string, later?: number) => Message;
  /** The bot's messages, oldest first. */
  readonly replies: () => readonly VisibleMessage[];
  /** Resolves when the bot's messages read exactly like this, in this order. */
  readonly reads: (...texts: readonly string[]) => Promise<void>;
}

export function newcomer(rig: Rig, firstName = "Ada"): Person {
  const user = rig.simulator.addUser({ first_name: firstName });
  const chat = rig.simulator.privateChat(user);
  return {
    user,
    chat,
    write: (text, later) =>
      rig.simulator.sendText(
        chat,
        user,
        text,
        later === undefined ? {} : { date: Math.floor(Date.now() / 1000) + later * 60 },
      ),
    replies: () => repliesIn(rig, chat),
    reads: (...texts) => readsLike(rig, chat, texts),
  };
}

/** The messages of the bot in a chat, oldest first. */
export function repliesIn(rig: Rig, chat: SimChat, threadId?: number): readonly VisibleMessage[] {
  const filter = threadId === undefined ? {} : { threadId };
  return rig.simulator.messages(chat, filter).filter(({ from }) => from.isBot);
}

/** Resolves when the bot's messages in a chat or topic read exactly like this. The error shows what they read instead. */
export async function readsLike(
  rig: Rig,
  chat: SimChat,
  texts: readonly string[],
  threadId?: number,
): Promise<void> {
  const visible = (): readonly string[] => repliesIn(rig, chat, threadId).map(({ text }) => text);
  const isSo = (): boolean => JSON.stringify(visible()) === JSON.stringify(texts);
  try {
    await rig.simulator.waitFor(isSo, SOON);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The chat reads ${JSON.stringify(visible())} instead of ${JSON.stringify(texts)}. ${reason}`,
      {
        cause: error,
      },
    );
  }
}

/** All that a model request told, as one text. */
export function toldIn(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map((message) => `${message.role}: ${textOf(message)}`).join("\n");
}

/** Resolves when the bot's log has a line like this. @throws {Error} after the time limit */
export async function logs(rig: Rig, line: RegExp): Promise<void> {
  const limit = AbortSignal.timeout(SOON.timeoutMs);
  const tooLate = new Promise<never>((_, reject) => {
    limit.addEventListener(
      "abort",
      () => reject(new Error(`There was no log line like ${line} within the time limit.`)),
      {
        once: true,
      },
    );
  });
  await Promise.race([rig.bot.logged(line), tooLate]);
}

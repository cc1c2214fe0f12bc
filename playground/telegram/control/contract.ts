import type { CallbackQuery, Message, User } from "grammy/types";
import type { ApiCall, CallFilter } from "./api-log.ts";
import type { CallbackAnswer } from "../chats/callback-queries.ts";
import type { Clock } from "../clock.ts";
import type { FaultRule } from "./faults.ts";
import type { FloodRules } from "./flood.ts";
import type { AttachmentOptions, DocumentOptions, SendOptions } from "../chats/people.ts";
import type { UpdateRecord } from "../webhook/updates.ts";
import type { VisibleMessage } from "../chats/visible-message.ts";
import type { Draft } from "../chats/world.ts";

export interface SimulatorOptions {
  /** Address to listen on. @default "127.0.0.1" */
  readonly host?: string;
  /** Names under which the server may be asked, beside those of this machine. @default none */
  readonly allowHosts?: readonly string[];
  /** Port to listen on; 0 picks a free one. @default 0 */
  readonly port?: number;
  readonly bot?: { readonly id?: number; readonly username?: string; readonly firstName?: string };
  /** Token of the bot. @default "7000000001:simulated-token" */
  readonly token?: string;
  /** Destination of updates. `setWebhook` may set it later. */
  readonly webhook?: { readonly url: string; readonly secretToken?: string };
  /** Source of time. @default the machine's clock */
  readonly clock?: Clock;
  /** File that keeps chats, messages, files and undelivered updates across restarts. */
  readonly stateFile?: string;
  /** Limits on the bot's calls. @default false */
  readonly flood?: FloodRules | false;
  /** Delays of redelivery. Each failure doubles the delay. @default 1 s, at most 60 s */
  readonly redelivery?: { readonly baseMs: number; readonly maxMs: number };
  /** Longest time that the bot may take to answer an update. @default 60 s */
  readonly webhookTimeoutMs?: number;
  /** Most updates on their way at once. @default 40 */
  readonly maxConnections?: number;
  /** Time in which a press can be answered. @default 60 s */
  readonly callbackTimeoutMs?: number;
  /** Calls kept in the log. @default 100,000 */
  readonly callLimit?: number;
  /** Pictures behind web addresses, for calls that name one. Nothing is fetched. @default every address is refused */
  readonly webFiles?: ReadonlyMap<string, Uint8Array>;
  /** Sentences that the page offers in an empty chat. @default none */
  readonly suggestions?: readonly string[];
  /** Number of the first update. @default 100,000,001 */
  readonly firstUpdateId?: number;
}

/** A chat of the simulator. Its content is read by `id`. */
export interface SimChat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup";
  readonly title?: string;
  readonly isForum: boolean;
}

/** Something that the page asks of the served bot itself, not of Telegram. */
export interface BotDoor {
  /** Time that the bot's clock is ahead of the machine's, in milliseconds. Negative if it is behind. */
  shiftMs(): number;
  /** Returns the scheduled tasks of a chat, and those of the whole bot. */
  schedules(chat: { readonly chatId: number; readonly topicId?: number } | undefined): Promise<object>;
  changeSchedule(change: ScheduleChange): Promise<void>;
  /** Moves the bot's clock forward, to a time in epoch milliseconds. Resolves when the bot runs on it. */
  moveClock(time: number): Promise<void>;
}

export interface ScheduleChange {
  /** The conversation that the schedule belongs to. Undefined for one of the whole bot. */
  readonly conversation?: string | undefined;
  readonly taskId: string;
  readonly action: "pause" | "resume" | "run" | "delete";
}

export type ChatReference = SimChat | number;
export type UserReference = Pick<User, "id"> | number;

export interface GroupProfile {
  readonly title: string;
  /** Kind of the group. @default "supergroup" */
  readonly type?: "group" | "supergroup";
  readonly forum?: boolean;
  readonly members: readonly User[];
  /** Whether the bot is an administrator. @default false */
  readonly botIsAdministrator?: boolean;
}

export interface Simulator {
  readonly url: string;
  readonly token: string;
  readonly bot: User;

  addUser(profile?: Partial<User>): User;
  privateChat(user: User): SimChat;
  addGroup(profile: GroupProfile): SimChat;
  addTopic(chat: ChatReference, name: string): number;
  closeTopic(chat: ChatReference, threadId: number): void;
  reopenTopic(chat: ChatReference, threadId: number): void;
  users(): readonly User[];
  chats(): readonly SimChat[];

  sendText(chat: ChatReference, user: UserReference, text: string, options?: SendOptions): Message;
  editText(chat: ChatReference, user: UserReference, messageId: number, text: string): Message;
  sendPhoto(chat: ChatReference, user: UserReference, options: AttachmentOptions): Message;
  sendDocument(chat: ChatReference, user: UserReference, options: DocumentOptions): Message;
  sendVoice(
    chat: ChatReference,
    user: UserReference,
    options: AttachmentOptions & { readonly durationSeconds?: number },
  ): Message;
  sendAudio(chat: ChatReference, user: UserReference, options: DocumentOptions): Message;
  sendVideo(chat: ChatReference, user: UserReference, options: DocumentOptions): Message;
  sendAlbum(
    chat: ChatReference,
    user: UserReference,
    items: readonly (AttachmentOptions | DocumentOptions)[],
  ): readonly Message[];
  /** Presses a button, found by its callback data or by its text. */
  pressButton(
    chat: ChatReference,
    user: UserReference,
    messageId: number,
    callbackDataOrText: string,
  ): CallbackQuery;
  /** Presses data that no button has any more, as an old or modified client can. */
  pressData(chat: ChatReference, user: UserReference, messageId: number, data: string): CallbackQuery;
  react(chat: ChatReference, user: UserReference, messageId: number, emoji: string | readonly string[]): void;
  pin(chat: ChatReference, user: UserReference, messageId: number): Message;
  /** Takes down a pinned message. Telegram tells nobody. */
  unpin(chat: ChatReference, messageId: number): void;
  /** Deletes a message as a person does. Bots are not told. */
  deleteMessage(chat: ChatReference, messageId: number): void;
  join(chat: ChatReference, user: User): Message;
  leave(chat: ChatReference, user: UserReference): Message;
  changeTitle(chat: ChatReference, user: UserReference, title: string): Message;
  /** Turns a basic group into a supergroup, which is a new chat. */
  upgradeGroup(chat: ChatReference): SimChat;
  blockBot(user: UserReference): void;
  unblockBot(user: UserReference): void;
  kickBot(chat: ChatReference): void;
  /** Adds a removed bot again. */
  readmitBot(chat: ChatReference): void;
  /** Presses "stop" on a draft that offers it. */
  stopDraft(chat: ChatReference): void;
  /** Posts any raw update, for kinds that are not modelled. A missing `update_id` is added. */
  postUpdate(update: object): UpdateRecord;

  /** Returns the visible messages of a chat, oldest first. `threadId: 0` is the General topic. */
  messages(chat: ChatReference, options?: { readonly threadId?: number }): readonly VisibleMessage[];
  typing(chat: ChatReference, threadId?: number): boolean;
  draft(chat: ChatReference): Draft | undefined;
  callbackAnswers(): readonly CallbackAnswer[];

  calls(filter?: CallFilter): readonly ApiCall[];
  updates(): readonly UpdateRecord[];
  webhookProblem(): string | undefined;
  /** Shows on the page why the bot cannot answer. The webhook does not tell. Undefined when the bot can answer. */
  setBotProblem(problem: string | undefined): void;
  /** Lets the page see and change the bot's schedules, and move its clock. */
  setBotDoor(door: BotDoor): void;
  /**
   * Resolves as soon as the predicate holds. It is checked at every change.
   * @throws {Error} after the time limit
   */
  waitFor(predicate: () => boolean, options?: { readonly timeoutMs?: number }): Promise<void>;
  onChange(listener: () => void): () => void;
  /** Reports a change outside of the simulator, so that waits look again. */
  noteChange(): void;

  /** Adds a fault. Returns a function that removes it. */
  fault(rule: FaultRule): () => void;
  clearFaults(): void;
  setWebhook(url: string, secretToken?: string): void;
  deleteWebhook(): void;
  /** Tries waiting updates now, without their delays. */
  redeliverNow(): void;
  close(): Promise<void>;
}

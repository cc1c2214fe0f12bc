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
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0: any free one. @default 0 */
  readonly port?: number;
  readonly bot?: { readonly id?: number; readonly username?: string; readonly firstName?: string };
  /** @default "7000000001:simulated-token" */
  readonly token?: string;
  /** Where updates go; `setWebhook` may say it later. */
  readonly webhook?: { readonly url: string; readonly secretToken?: string };
  /** @default the machine's time */
  readonly clock?: Clock;
  /** Chats, messages, files and undelivered updates are kept here over a restart. */
  readonly stateFile?: string;
  /** Limits on the bot's calls. @default false */
  readonly flood?: FloodRules | false;
  /** Delays of redelivery: doubled with each failure. @default 1 s, at most 60 s */
  readonly redelivery?: { readonly baseMs: number; readonly maxMs: number };
  /** How long the bot may take to answer an update. @default 60 s */
  readonly webhookTimeoutMs?: number;
  /** Updates on their way at once. @default 40 */
  readonly maxConnections?: number;
  /** How long a press of a button can be answered. @default 60 s */
  readonly callbackTimeoutMs?: number;
  /** Calls kept in the log. @default 100,000 */
  readonly callLimit?: number;
  /** The first update's number. @default 100,000,001 */
  readonly firstUpdateId?: number;
}

/** A chat of the simulator; what happens in it is asked by `id`. */
export interface SimChat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup";
  readonly title?: string;
  readonly isForum: boolean;
}

export type ChatReference = SimChat | number;
export type UserReference = Pick<User, "id"> | number;

export interface GroupProfile {
  readonly title: string;
  /** @default "supergroup" */
  readonly type?: "group" | "supergroup";
  readonly forum?: boolean;
  readonly members: readonly User[];
  /** @default false */
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
  sendAlbum(
    chat: ChatReference,
    user: UserReference,
    items: readonly (AttachmentOptions | DocumentOptions)[],
  ): readonly Message[];
  /** By callback data, else by the button's text. */
  pressButton(
    chat: ChatReference,
    user: UserReference,
    messageId: number,
    callbackDataOrText: string,
  ): CallbackQuery;
  /** Presses data that no button carries (any longer), as an old or changed client can. */
  pressData(chat: ChatReference, user: UserReference, messageId: number, data: string): CallbackQuery;
  react(chat: ChatReference, user: UserReference, messageId: number, emoji: string | readonly string[]): void;
  pin(chat: ChatReference, user: UserReference, messageId: number): Message;
  /** A person deletes a message: bots are told nothing. */
  deleteMessage(chat: ChatReference, messageId: number): void;
  join(chat: ChatReference, user: User): Message;
  leave(chat: ChatReference, user: UserReference): Message;
  changeTitle(chat: ChatReference, user: UserReference, title: string): Message;
  /** Makes a basic group a supergroup, which is a new chat. */
  upgradeGroup(chat: ChatReference): SimChat;
  blockBot(user: UserReference): void;
  unblockBot(user: UserReference): void;
  kickBot(chat: ChatReference): void;
  /** Puts a kicked bot back. */
  readmitBot(chat: ChatReference): void;
  /** Presses "stop" on a draft that offers it. */
  stopDraft(chat: ChatReference): void;
  /** Any raw update, for kinds that are not modelled. Its `update_id` is given unless it has one. */
  postUpdate(update: object): UpdateRecord;

  /** What the chat shows, oldest first. `threadId: 0` is the General topic. */
  messages(chat: ChatReference, options?: { readonly threadId?: number }): readonly VisibleMessage[];
  typing(chat: ChatReference, threadId?: number): boolean;
  draft(chat: ChatReference): Draft | undefined;
  callbackAnswers(): readonly CallbackAnswer[];

  calls(filter?: CallFilter): readonly ApiCall[];
  updates(): readonly UpdateRecord[];
  webhookProblem(): string | undefined;
  /** Shows on the page why the bot cannot answer, which its webhook does not say; nothing when it can. */
  setBotProblem(problem: string | undefined): void;
  /** Resolves as soon as the predicate holds; asked again at every change. @throws {Error} after the time limit */
  waitFor(predicate: () => boolean, options?: { readonly timeoutMs?: number }): Promise<void>;
  onChange(listener: () => void): () => void;

  /** Returns what removes the fault. */
  fault(rule: FaultRule): () => void;
  clearFaults(): void;
  setWebhook(url: string, secretToken?: string): void;
  deleteWebhook(): void;
  /** Tries waiting updates at once, without their delays. */
  redeliverNow(): void;
  close(): Promise<void>;
}

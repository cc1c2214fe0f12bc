import type {
  Broadcast,
  BroadcastOptions,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  BroadcastTargets,
  SubscriberFilter,
  SubscriberPage,
} from "./core/broadcast.ts";
import { checkBroadcast } from "./broadcasts/check-broadcast.ts";
import type { ChatTarget } from "./core/chat-target.ts";
import type { Content } from "./core/content.ts";
import { isForSockets } from "./broadcasts/is-for-sockets.ts";
import type { SocketMessage } from "./broadcasts/is-for-sockets.ts";
import { noticeOf } from "./broadcasts/notice.ts";
import type { NoticeOptions } from "./broadcasts/notice.ts";
import type { BroadcastCalls } from "./broadcasts/broadcast-calls.ts";
import { BROADCASTS } from "./agent/features.ts";
import { objectIn } from "./agent/runtime-of.ts";
import { ThinkMembers } from "./think-members.ts";

/** The methods of `Think` that write to many chats. */
export abstract class ThinkBroadcasts<
  Env extends Cloudflare.Env = Cloudflare.Env,
  State = unknown,
> extends ThinkMembers<Env, State> {
  /* oxlint-disable typescript/no-misused-promises -- the base class has a method of this name, which stays as it is */
  /** Sends a message to the web sockets of this object. */
  override broadcast(message: SocketMessage, without?: string[]): void;
  /**
   * Sends content to many chats: to each once, in the background, paced so that answers to people come first. Returns its
   * id when all chats are stored; a crash after that loses nothing. The object of each chat's conversation sends the
   * message, and its model knows it.
   *
   * A conversation is `{ conversation }`: a list of plain strings means the connections that the method of the base class
   * leaves out, and any other string may be a misspelt `"subscribers"`.
   *
   * @param content files only with a `fileId` or a `url`
   * @throws {InvalidInputError} `broadcast-invalid` for a misspelt option or word, or a code of `say` about the content
   * @throws {SwitchboardError} `broadcast-conflict` if the key was used for other content or targets
   * @example await this.broadcast("We are back.", ({ kind }) => kind === "private", { idempotencyKey: "outage-7" });
   */
  override broadcast(
    content: Content,
    targets: BroadcastTargets,
    options?: BroadcastOptions,
  ): Promise<string>;
  override broadcast(
    content: Content | SocketMessage,
    targets?: BroadcastTargets | string[],
    options: BroadcastOptions = {},
  ): Promise<string> | void {
    if (!isForSockets(content, targets))
      return this.#broadcast(content, targets as BroadcastTargets, options);
    super.broadcast(content, targets as string[] | undefined);
  }
  /* oxlint-enable typescript/no-misused-promises */

  async #broadcast(content: Content, targets: BroadcastTargets, given: BroadcastOptions): Promise<string> {
    checkBroadcast(given, targets);
    const {
      expiresAfterMs,
      idempotencyKey,
      ignoreQuietHours = false,
      informModel = true,
      protect,
      silent,
    } = given;
    const options = { ...(protect !== undefined && { protect }), ...(silent !== undefined && { silent }) };
    const ignores = ignoreQuietHours ? { ignoresQuietHours: true } : {};
    const work = { kind: "content", content, informModel, options, ...ignores } as const;
    const request = { id: idempotencyKey, work, targets, expiresAfterMs };
    const { id } = await broadcastsOf(this).startBroadcast(request);
    return id;
  }

  /** Returns the progress of a broadcast. Kept for 30 days after its end. */
  async getBroadcast(id: string): Promise<Broadcast | undefined> {
    return broadcastsOf(this).getBroadcast(id);
  }

  /** Returns broadcasts, newest first. */
  async listBroadcasts(limit = 100): Promise<Broadcast[]> {
    return broadcastsOf(this).listBroadcasts(limit);
  }

  /** Returns a page of a broadcast's outcomes, chat by chat. */
  async broadcastReceipts(id: string, filter: BroadcastReceiptFilter = {}): Promise<BroadcastReceiptPage> {
    return broadcastsOf(this).broadcastReceipts(id, filter);
  }

  /**
   * Ends a broadcast: no further message begins. At most 400 messages that conversations have already still arrive.
   * Returns `false` if it has ended, or does not exist.
   */
  async cancelBroadcast(id: string): Promise<boolean> {
    return broadcastsOf(this).cancelBroadcast(id);
  }

  /**
   * Subscribes a chat to broadcasts for `"subscribers"`. Returns `false` if it has subscribed already.
   *
   * @throws as `say` about the target, which has the same default
   */
  async subscribe(to?: ChatTarget): Promise<boolean> {
    return broadcastsOf(this).setSubscribed(await objectIn(this).sends.addressOf(to), true);
  }

  /** Ends the subscription of a chat. Returns `false` if it has none. @throws as `subscribe` */
  async unsubscribe(to?: ChatTarget): Promise<boolean> {
    return broadcastsOf(this).setSubscribed(await objectIn(this).sends.addressOf(to), false);
  }

  /** Returns a page of the chats that have subscribed. */
  async listSubscribers(filter: SubscriberFilter = {}): Promise<SubscriberPage> {
    return broadcastsOf(this).listSubscribers(filter);
  }

  /**
   * Sends a notice to one chat, from any object of the bot, in and outside of turns: once, also after a crash. The object
   * of the chat's conversation sends it, and its model knows it. Returns an id for `getBroadcast` and
   * `broadcastReceipts` when the notice is stored.
   *
   * @throws {InvalidInputError} `channel-unknown`, or `channel-without-chats` for a channel that is no messenger
   * @throws {SwitchboardError} `thread-unknown`, or another code of `say` about the target
   * @throws {InvalidInputError} `notice-invalid`, or a code of `say` about the content
   * @example await this.deliverNotice("Your export is ready.", { channel: "telegram", thread: "4711", kind: "export" });
   */
  async deliverNotice(content: Content, options: NoticeOptions = {}): Promise<string> {
    const { channels, sends } = objectIn(this);
    if (options.channel !== undefined) channels.withChats(options.channel);
    const notice = await noticeOf(content, options, (to) => sends.addressOf(to));
    const { id } = await broadcastsOf(this).startBroadcast(notice);
    return id;
  }
}

function broadcastsOf(agent: object): BroadcastCalls {
  return objectIn(agent).features.get(BROADCASTS).manyChats;
}

import { RpcTarget } from "cloudflare:workers";
import type {
  Broadcast,
  BroadcastOptions,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  BroadcastTargets,
  SubscriberFilter,
  SubscriberPage,
} from "../core/turn/broadcast.ts";
import type { ChatTarget } from "../core/chat/chat-target.ts";
import type { Content } from "../core/message/content.ts";
import type { OwnSends } from "../messengers/thread/own-sends.ts";
import type { ChannelPolicies } from "../messengers/turns/channel-policies.ts";
import type { BroadcastsFeature } from "./broadcasts-feature.ts";
import { checkBroadcast } from "./check-broadcast.ts";
import { noticeOf } from "./notice.ts";
import type { NoticeOptions } from "./notice.ts";

export interface BotBroadcastsOptions {
  readonly feature: Pick<BroadcastsFeature, "manyChats">;
  readonly sends: Pick<OwnSends, "addressOf">;
  readonly channels: Pick<ChannelPolicies, "withChats">;
}

/**
 * Messages to many chats and their subscribers, which the root keeps for the whole bot: `this.broadcasts` in any object,
 * and `stub.broadcasts` over RPC.
 */
export class BotBroadcasts extends RpcTarget {
  readonly #options: BotBroadcastsOptions;

  constructor(options: BotBroadcastsOptions) {
    super();
    this.#options = options;
  }

  /**
   * Sends content to many chats: to each once, in the background, paced so that answers to people come first. Returns its
   * id when all chats are stored; a crash after that loses nothing. The object of each chat's conversation sends the
   * message, and its model knows it.
   *
   * A conversation is `{ conversation }`: any plain string may be a misspelt `"subscribers"`.
   *
   * @param content files only with a `fileId` or a `url`
   * @throws {InvalidInputError} `broadcast-invalid` for a misspelt option or word, or a code of `say` about the content
   * @throws {SwitchboardError} `broadcast-conflict` if the key was used for other content or targets
   * @example await this.broadcasts.send("We are back.", ({ kind }) => kind === "private", { idempotencyKey: "outage-7" });
   */
  async send(content: Content, targets: BroadcastTargets, given: BroadcastOptions = {}): Promise<string> {
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
    const { id } = await this.#options.feature.manyChats.startBroadcast(request);
    return id;
  }

  /**
   * Sends a notice to one chat, from any object of the bot, in and outside of turns: once, also after a crash. The object
   * of the chat's conversation sends it, and its model knows it. Returns an id for `get` and `receipts` when the notice
   * is stored.
   *
   * @throws {InvalidInputError} `channel-unknown`, or `channel-without-chats` for a channel that is no messenger
   * @throws {SwitchboardError} `thread-unknown`, or another code of `say` about the target
   * @throws {InvalidInputError} `notice-invalid`, or a code of `say` about the content
   * @example await this.broadcasts.notify("Your export is ready.", { channel: "telegram", thread: "4711" });
   */
  async notify(content: Content, options: NoticeOptions = {}): Promise<string> {
    const { channels, feature, sends } = this.#options;
    if (options.channel !== undefined) channels.withChats(options.channel);
    const notice = await noticeOf(content, options, (to) => sends.addressOf(to));
    const { id } = await feature.manyChats.startBroadcast(notice);
    return id;
  }

  /** Returns the progress of a broadcast. Undefined if it does not exist. Kept for 30 days after its end. */
  get(id: string): Promise<Broadcast | undefined> {
    return this.#options.feature.manyChats.getBroadcast(id);
  }

  /** Returns broadcasts, newest first. */
  list(limit = 100): Promise<Broadcast[]> {
    return this.#options.feature.manyChats.listBroadcasts(limit);
  }

  /** Returns a page of a broadcast's outcomes, chat by chat. */
  receipts(id: string, filter: BroadcastReceiptFilter = {}): Promise<BroadcastReceiptPage> {
    return this.#options.feature.manyChats.broadcastReceipts(id, filter);
  }

  /**
   * Ends a broadcast: no further message begins. At most 400 messages that conversations have already still arrive.
   * Returns `false` if it has ended, or does not exist.
   */
  cancel(id: string): Promise<boolean> {
    return this.#options.feature.manyChats.cancelBroadcast(id);
  }

  /**
   * Subscribes a chat to broadcasts for `"subscribers"`. Returns `false` if it has subscribed already.
   *
   * @throws as `say` about the target, which has the same default
   */
  async subscribe(to?: ChatTarget): Promise<boolean> {
    const { feature, sends } = this.#options;
    return feature.manyChats.setSubscribed(await sends.addressOf(to), true);
  }

  /** Ends the subscription of a chat. Returns `false` if it has none. @throws as `subscribe` */
  async unsubscribe(to?: ChatTarget): Promise<boolean> {
    const { feature, sends } = this.#options;
    return feature.manyChats.setSubscribed(await sends.addressOf(to), false);
  }

  /** Returns a page of the chats that have subscribed. */
  subscribers(filter: SubscriberFilter = {}): Promise<SubscriberPage> {
    return this.#options.feature.manyChats.listSubscribers(filter);
  }
}

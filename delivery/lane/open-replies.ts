import type { ChatListener } from "../../src/core/chat/chat-listener.ts";
import type { ChatMove, ChatPlace } from "../../src/core/chat/chat-move.ts";
import type { GonePlace, ReplyState } from "../../src/core/chat/delivery.ts";
import type { Address, CallFailure, OutgoingMedia } from "../../src/core/chat/surface.ts";
import { plainMarkdown } from "../../src/core/message/plain-markdown.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { Replies } from "../calls/replies.ts";
import { leaveDoubts } from "../lost-posts/conclude-search.ts";
import type { OpenDoubts } from "../lost-posts/open-doubts.ts";
import { isLostRow } from "../lost-posts/told-message.ts";
import { isSameChat, laneKey } from "../outbox/lane-key.ts";
import { movedAddress } from "../outbox/move-reply.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { hashesOf, type ReplyBody } from "../outbox/reply-body.ts";
import type { ReplyStore } from "../outbox/reply-store.ts";
import type { Reply } from "../outbox/reply.ts";
import type { ChatMoves } from "./chat-moves.ts";
import type { DurableWake } from "./durable-wake.ts";
import { Lanes } from "./lanes.ts";
import { storeShown } from "./perform-action.ts";

export interface OpenRepliesOptions {
  /** What the lanes of these replies share with them. */
  readonly shared: Omit<DeliveryContext, "replies">;
  readonly store: ReplyStore;
  readonly moves: ChatMoves;
  /** The replies by id, and the doubts about their posts. */
  readonly replies: Map<string, Reply>;
  readonly doubts: OpenDoubts;
  readonly wake: DurableWake;
  /** Called once when a reply has ended. */
  readonly onEnded?: ((replyId: string, state: ReplyState) => void) | undefined;
  readonly listener?: Pick<ChatListener, "chatGone" | "fileRefused"> | undefined;
}

/** Number of withdrawn replies kept in memory for a takeover. Older ones are read from the storage again. */
const MOST_WITHDRAWN = 50;

/**
 * The replies of one engine in memory: those that have not ended or wait for their chat, and recent withdrawn ones. Each
 * change is stored first, then remembered.
 */
export class OpenReplies implements Replies {
  /** Everything that the lanes use. */
  readonly context: DeliveryContext;
  readonly lanes: Lanes;
  readonly #options: OpenRepliesOptions;
  readonly #replies: Map<string, Reply>;
  /** The ends of replies, for which callers in this process wait. */
  readonly #ends = new Map<string, PromiseWithResolvers<ReplyState>>();

  constructor(options: OpenRepliesOptions) {
    this.#options = options;
    this.#replies = options.replies;
    this.context = { ...options.shared, replies: this };
    this.lanes = new Lanes(this.context, options.wake);
  }

  get(replyId: string): Reply | undefined {
    return this.#replies.get(replyId);
  }

  /** Returns a reply to which text may be added, and notes that it is in use. */
  streaming(replyId: string): Reply | undefined {
    const reply = this.#replies.get(replyId);
    if (reply?.record.state !== "streaming") return undefined;
    reply.touchedAt = this.context.deps.clock.now();
    return reply;
  }

  /** Adds a stored reply, and puts it into the lane of its address, unless it waits for its chat. */
  add(reply: Reply): void {
    this.#replies.set(reply.record.id, reply);
    if (reply.isOpen) this.lanes.of(reply.laneKey).add(reply);
  }

  /** Removes a reply whose messages another one has taken over. */
  remove(replyId: string): void {
    this.#replies.delete(replyId);
  }

  /** Makes the reply's lane look at it. */
  poke(reply: Reply): void {
    this.lanes.of(reply.laneKey).poke();
    this.#options.wake.update();
  }

  /** Resolves when the reply has ended. */
  settled(replyId: string): Promise<ReplyState> {
    const state = this.#replies.get(replyId)?.record.state ?? this.#options.store.read(replyId)?.state;
    if (state !== undefined && state !== "streaming" && state !== "final") return Promise.resolve(state);
    const end = this.#ends.get(replyId) ?? Promise.withResolvers<ReplyState>();
    this.#ends.set(replyId, end);
    return end.promise;
  }

  /** Tells that a reply has ended. */
  tell(replyId: string, state: ReplyState): void {
    this.context.log.info("delivery.ended", { turn: replyId, state });
    this.#ends.get(replyId)?.resolve(state);
    this.#ends.delete(replyId);
    this.#options.onEnded?.(replyId, state);
  }

  end(reply: Reply, state: ReplyState, code: string | undefined): void {
    if (!reply.isOpen && !(reply.isAway && state === "withdrawn")) return;
    const { budget, database, deps, files, outbox, surfaces } = this.context;
    const { store } = this.#options;
    const { address, body, content, id, text } = reply.record;
    // Half a message is completed in any case. The owner of a card decides what becomes of it.
    const isAwaited =
      state === "gone" && (reply.record.isAwaited || (content !== "card" && reply.mayHaveMessage));
    // A press may yet tell the message of a lost card, even of one that was removed.
    const hasTried = state === "failed" || state === "delivered";
    const isLost = hasTried && content === "card" && isLostRow(reply.entries.at(-1));
    const isKept = (isAwaited || isLost) && reply.isFinal;
    const kept = isKept ? { text, body } : { text: undefined, body: undefined };
    const record = { ...reply.record, ...kept, state, code, isAwaited };
    database.transaction(() => {
      store.end(record, deps.clock.now());
      // Without it, the next revision could not know that no edit of this one is under way.
      if (state === "delivered" && content === "card") storeShown(this.context, reply);
      if (!isAwaited && !isKept && hashesOf(body).length > 0) files.release(id);
      if (state !== "withdrawn") leaveDoubts({ budget, outbox }, reply, surfaces.find(address));
    });
    reply.record = record;
    reply.release();
    this.lanes.of(reply.laneKey).remove(reply);
    this.doubtEnded(reply.record.address);
    if (state === "withdrawn") this.#forgetWithdrawn();
    // A call for it may be under way, so it stays the same object.
    else if (!isAwaited) this.#replies.delete(id);
    this.tell(id, state);
  }

  /** Continues the whole replies that wait for a place. */
  resume(place: GonePlace): void {
    for (const reply of this.#replies.values()) {
      const { messengerId, chatId, threadId } = this.#options.moves.currentAddress(reply.record.address);
      if (messengerId !== place.messengerId || chatId !== place.chatId) continue;
      if (place.threadId === undefined || place.threadId === threadId) this.resumeOne(reply);
    }
  }

  /** Continues a whole reply that waits for its chat: its messages are brought up to date like those of any other. */
  resumeOne(reply: Reply): void {
    if (!reply.isAway || reply.record.text === undefined) return;
    const { moves, store } = this.#options;
    const { record } = reply;
    const address = moves.currentAddress(record.address);
    const isMoved = address !== record.address;
    this.context.database.transaction(() => {
      store.resume(record.id);
      if (!isMoved) return;
      store.move(record.id, address);
      moves.moveEntries(reply.entries, record.address);
    });
    // Time without any tries does not count as time of failing.
    for (const entry of reply.entries)
      entry.row = { ...entry.row, retryAt: undefined, failingSince: undefined };
    const moved = isMoved && { address, replyTo: undefined, seenMessageId: undefined };
    reply.revise({ ...record, ...moved, state: "final", code: undefined, endedAt: undefined });
    this.add(reply);
    this.poke(reply);
  }

  /** Ends all replies. A gone chat is tried again when someone writes, a gone thread with its next reply. */
  endPlace(address: Address, failure: CallFailure): void {
    const { code } = failure;
    const { messengerId, chatId, threadId } = address;
    const isThread = failure.kind === "gone" && failure.scope === "thread";
    this.#options.listener?.chatGone({ messengerId, chatId, ...(isThread && { threadId }) }, code);
    if (!isThread) this.#options.store.markGone(address, code);
    for (const reply of this.#replies.values()) {
      if (!isSameChat(reply.record.address, address)) continue;
      if (!isThread || reply.record.address.threadId === threadId) this.end(reply, "gone", code);
    }
  }

  /** Moves a chat's replies. Returns false if the chat has moved already, or would move in a circle. */
  move(messengerId: string, move: ChatMove): boolean {
    const moved = this.#options.moves.move(messengerId, move, this.#replies.values());
    if (moved === undefined) return false;
    this.#moveLanes(moved, move.to);
    this.#options.wake.update();
    return true;
  }

  /** Moves the lanes of these replies, and ends their typing indicators. */
  #moveLanes(replies: readonly Reply[], to: ChatPlace): void {
    const keys = new Map<string, string>();
    for (const reply of replies) {
      const address = movedAddress(reply.record.address, to);
      const key = keys.get(reply.laneKey) ?? this.lanes.rekey(reply.laneKey, laneKey(address));
      keys.set(reply.laneKey, key);
      reply.stopTyping();
      reply.move(address, key);
    }
    for (const key of new Set(keys.values())) this.lanes.of(key).forgetWaits();
  }

  movePlace(address: Address, { code, to }: Extract<CallFailure, { kind: "moved" }>): void {
    const { chatId, messengerId, threadId } = address;
    const isMoved = this.move(messengerId, { from: { chatId, threadId }, to });
    if (!isMoved && this.#options.moves.placeOf(messengerId, chatId) === undefined)
      this.endPlace(address, { kind: "gone", code });
  }

  reshapeFiles(reply: Reply, files: readonly OutgoingMedia[]): void {
    this.#setBody(reply, { kind: "files", files });
  }

  refuseFiles(reply: Reply, refused: readonly OutgoingMedia[], code: string): void {
    const { address, body, id } = reply.record;
    if (body?.kind !== "files") return;
    const [file, ...others] = refused;
    if (others.length > 0 && body.isSplit !== true) {
      this.#setBody(reply, { ...body, isSplit: true });
      return;
    }
    const at = body.files.findIndex((one) => isSameFile(one, file));
    const files = body.files.map((one, index): OutgoingMedia => {
      if (index !== at) return one;
      const { name, source } = one;
      const url = source.kind === "address" ? source.url : one.url;
      const told = this.#options.listener?.fileRefused(address.messengerId, id, { name, url, code });
      return { ...one, refusal: { code, text: told ?? plainMarkdown(name) } };
    });
    this.#setBody(reply, { ...body, files });
  }

  #setBody(reply: Reply, body: ReplyBody): void {
    this.#options.store.setBody(reply.record.id, body);
    reply.setBody(body);
  }

  leaveOutPicture(reply: Reply): void {
    const { body } = reply.record;
    if (body?.kind !== "card") return;
    this.#setBody(reply, { ...body, isPictureRefused: true });
  }

  unquote(reply: Reply): void {
    reply.record = { ...reply.record, replyTo: undefined };
    this.#options.store.unquote(reply.record.id);
  }

  keepText(reply: Reply): void {
    this.#options.store.keepText(reply.record.id, reply.text);
    reply.record = { ...reply.record, text: reply.text };
  }

  hasOtherDoubt(entry: OutboxEntry | undefined, address: Address): boolean {
    return this.#options.doubts.hasOther(entry, address);
  }

  /** Wakes the chat's other threads, whose posts may have waited for the outcome of this one. */
  doubtEnded(address: Address): void {
    const key = laneKey(address);
    for (const { isOpen, laneKey: other, record } of this.#replies.values()) {
      if (isOpen && other !== key && isSameChat(record.address, address)) this.lanes.of(other).poke();
    }
  }

  revisit(replyId: string): void {
    const reply = this.#replies.get(replyId);
    if (reply === undefined) return;
    reply.isDirty = true;
    this.poke(reply);
  }

  #forgetWithdrawn(): void {
    const withdrawn = [...this.#replies].filter(([, { record }]) => record.state === "withdrawn");
    for (const [id] of withdrawn.slice(0, -MOST_WITHDRAWN)) this.#replies.delete(id);
  }
}

function isSameFile({ refusal, ...one }: OutgoingMedia, file: OutgoingMedia | undefined): boolean {
  return refusal === undefined && JSON.stringify(one) === JSON.stringify(file);
}

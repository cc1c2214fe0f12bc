import type { ChatMove, ChatPlace } from "../src/core/chat/chat-move.ts";
import type { ChatKey } from "../src/core/chat/gate.ts";
import type {
  CardBody,
  Delivery,
  DeliveryFilter,
  DeliveryReceipt,
  GonePlace,
  IfDeleted,
  ReplyStart,
  ReplyState,
  SendOptions,
} from "../src/core/chat/delivery.ts";
import type { LocationContent, OutgoingFile, PictureBytes } from "../src/core/message/content.ts";
import type { ActionNotice, Address, OutgoingMedia, Press } from "../src/core/chat/surface.ts";
import type { Placeholder } from "../src/core/message/placeholder.ts";
import { answerAction } from "./calls/answer-action.ts";
import { editLandsBy } from "./outbox/reply-timing.ts";
import type { DeliveryContext } from "./calls/delivery-context.ts";
import { MessengerAccess } from "./calls/messenger-access.ts";
import { UnfilledPlaceholders } from "./lane/unfilled-placeholders.ts";
import { DurableWake } from "./lane/durable-wake.ts";
import { CardRevisions } from "./lane/card-revisions.ts";
import { ChatMoves } from "./lane/chat-moves.ts";
import type { Lanes } from "./lane/lanes.ts";
import { OpenReplies } from "./lane/open-replies.ts";
import { laneKey } from "./outbox/lane-key.ts";
import { entryAfterStart, type OutboxEntry } from "./outbox/outbox-entry.ts";
import { OutboxStore, recentIds } from "./outbox/outbox-store.ts";
import type { DeliveryOptions } from "./delivery-options.ts";
import { createPlaceholderStore } from "./outbox/placeholder-store.ts";
import { Receipts } from "./outbox/receipts.ts";
import { ReplySweep } from "./outbox/sweep.ts";
import { OutgoingFiles } from "./files/outgoing-files.ts";
import { hashesOf, type ReplyBody, type WholeReply } from "./outbox/reply-body.ts";
import { newRecord } from "./outbox/new-record.ts";
import { Reply } from "./outbox/reply.ts";
import { ReplyStore, type ReplyRecord } from "./outbox/reply-store.ts";
import { RichFallback } from "./outbox/rich-fallback.ts";
import type { MarkStart } from "../src/core/chat/mark.ts";
import { Marks } from "./marks/marks.ts";
import { markLost } from "./lane/perform-action.ts";
import { adoptMessages } from "./lane/take-over.ts";
import { seenText } from "./modes/seen-text.ts";
import { Surfaces } from "./calls/surfaces.ts";
import { learnIds } from "./lost-posts/learn-ids.ts";
import { takeTold } from "./lost-posts/told-message.ts";
import { startTyping } from "./calls/start-typing.ts";
import { showProgress } from "./modes/show-progress.ts";
import { GateClient } from "./budget/gate-client.ts";
import { OpenDoubts } from "./lost-posts/open-doubts.ts";

/**
 * Stores and ends the texts of turns and notices. Each address has a `Lane`, which makes the calls.
 * 1. A reply is stored before any of its text is sent (I4). It ends once, with one call of `onEnded`.
 * 2. While a reply has work left, a durable wake-up is set. A new process continues from the rows.
 */
export function createDelivery(options: DeliveryOptions): Delivery {
  return new Engine(options);
}

/** Every gate knows messages that are older than this. */
const RECENT_MS = 10 * 60 * 1000;

class Engine implements Delivery {
  readonly #options: DeliveryOptions;
  readonly #store: ReplyStore;
  readonly #outbox: OutboxStore;
  readonly #moves: ChatMoves;
  readonly #revisions: CardRevisions;
  readonly #receipts: Receipts;
  readonly #sweep: ReplySweep;
  readonly heldFiles: OutgoingFiles;
  readonly #rich: RichFallback;
  readonly #marks: Marks;
  readonly #context: DeliveryContext;
  readonly #wake: DurableWake;
  readonly #lanes: Lanes;
  readonly #surfaces: Surfaces;
  readonly #replies: OpenReplies;
  readonly #doubts: OpenDoubts;
  readonly #unfilled: UnfilledPlaceholders;
  #lastPosition = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#surfaces = new Surfaces(options.messengers);
    this.#store = new ReplyStore(options.database);
    this.#outbox = new OutboxStore(options.database);
    this.#moves = new ChatMoves({ ...options, replies: this.#store, outbox: this.#outbox });
    this.#revisions = new CardRevisions({
      ...options,
      replies: this.#store,
      outbox: this.#outbox,
      moves: this.#moves,
      entriesOf: (record) => this.#entriesOfEarlierLife(record),
    });
    this.#rich = new RichFallback({ ...options, store: this.#store });
    this.#receipts = new Receipts(this.#store, this.#outbox);
    this.heldFiles = new OutgoingFiles(options);
    const open = new Map<string, Reply>();
    this.#wake = new DurableWake(options.onWake, options.deps.clock);
    const doubts = new OpenDoubts(open);
    const budget = new GateClient({
      clock: options.deps.clock,
      gates: options.gates,
      isInDoubt: (address) => doubts.isIn(address),
      isUnresolved: (address) =>
        doubts.isUnresolved(address, address.threadId) || this.#lostInto(address).includes(address.threadId),
      recentIds: (address) => recentIds(this.#outbox, address, options.deps.clock.now() - RECENT_MS),
    });
    this.#doubts = doubts;
    const shared = {
      database: options.database,
      deps: options.deps,
      log: options.log,
      budget,
      outbox: this.#outbox,
      placeholders: createPlaceholderStore(options.database, options.deps.clock),
      files: this.heldFiles,
      rich: this.#rich,
      access: new MessengerAccess(options),
      surfaces: this.#surfaces,
      cards: this.#revisions,
    };
    const stores = { replies: this.#store, outbox: this.#outbox, moves: this.#moves };
    const wake = this.#wake;
    this.#marks = new Marks({ ...options, ...stores, context: shared, wake });
    wake.watch(this.#marks);
    const files = this.heldFiles;
    this.#sweep = new ReplySweep({ ...options, ...stores, files, inMemory: open });
    this.#replies = new OpenReplies({
      ...options,
      shared,
      store: this.#store,
      moves: this.#moves,
      replies: open,
      doubts,
      wake,
    });
    this.#context = this.#replies.context;
    this.#lanes = this.#replies.lanes;
    wake.watch(this.#lanes);
    const { isEventOpen = () => true } = options;
    this.#unfilled = new UnfilledPlaceholders({ context: shared, replies: open, isEventOpen, wake });
    wake.watch(this.#unfilled);
    for (const record of this.#store.open()) {
      this.#lastPosition = record.position;
      const now = options.deps.clock.now();
      // After the text was whole, every edit had the same text. Only an earlier edit may still restore an older text.
      const lastEditAt = record.state === "streaming" ? now : (record.finishedAt ?? 0);
      const strayUntil = editLandsBy(record.policy, this.#surfaces.find(record.address), lastEditAt);
      const entries = this.#entriesAfterStart(record, strayUntil, now);
      for (const entry of entries) entry.isLookDue = true;
      const reply = new Reply(record, entries, now);
      if (this.#canEdit(reply)) reply.restore();
      this.#admit(reply);
      if (reply.isAway) this.#loseCalls(reply);
    }
  }

  open(start: ReplyStart): void {
    const reply = this.#begin(start, {});
    if (reply === undefined) return;
    reply.touchedAt = this.#options.deps.clock.now();
    startTyping(this.#context, reply);
    this.#replies.poke(reply);
  }

  expectAnswer(messengerId: string, placeholder: Placeholder, eventSeq: number): void {
    this.#unfilled.expect(messengerId, placeholder, eventSeq);
  }

  append(replyId: string, delta: string): void {
    const reply = this.#replies.streaming(replyId);
    if (reply === undefined || delta === "") return;
    reply.append(delta);
    this.#lanes.of(reply.laneKey).nudge();
  }

  replace(replyId: string, text: string): void {
    const reply = this.#replies.streaming(replyId);
    if (reply === undefined) return;
    reply.replace(text);
    this.#lanes.of(reply.laneKey).nudge();
  }

  progress(replyId: string, line: string | undefined): void {
    const reply = this.#replies.streaming(replyId);
    if (reply === undefined) return;
    showProgress(this.#context, reply, line);
    this.#lanes.of(reply.laneKey).nudge();
  }

  interrupt(replyId: string): void {
    const reply = this.#replies.streaming(replyId);
    // If messages cannot be edited, visible text cannot become shorter.
    if (reply === undefined || !this.#canEdit(reply)) return;
    if (reply.text !== "" && reply.record.text !== reply.text) this.#replies.keepText(reply);
    reply.interrupt();
  }

  finish(replyId: string, text: string): void {
    const reply = this.#replies.get(replyId);
    const isAway = reply?.isAway === true && reply.record.text === undefined;
    if (reply === undefined || !(isAway || reply.record.state === "streaming")) return;
    const now = this.#options.deps.clock.now();
    this.#store.finish(replyId, text, now);
    if (!isAway) {
      reply.finish(text, now);
      this.#replies.poke(reply);
      return;
    }
    reply.record = { ...reply.record, text, finishedAt: now };
    // The chat may be back already.
    if (this.#store.goneCode(reply.record.address) === undefined) this.#replies.resumeOne(reply);
  }

  postedText(replyId: string): string {
    const reply = this.#replies.get(replyId);
    if (reply?.record.state !== "streaming" || this.#canEdit(reply)) return "";
    return reply.record.text ?? "";
  }

  seenText(replyId: string): string | undefined {
    const reply = this.#replies.get(replyId);
    if (reply?.record.state !== "streaming") return undefined;
    return seenText(reply, this.#surfaces.of(reply.record.address.messengerId));
  }

  withdraw(replyId: string): void {
    const reply = this.#replies.get(replyId);
    if (reply?.isOpen !== true && reply?.isAway !== true) return;
    this.#replies.end(reply, "withdrawn", undefined);
    this.#replies.poke(reply);
  }

  send(start: ReplyStart, text: string, options?: SendOptions): void {
    const reply = this.#begin(start, { text, options });
    if (reply !== undefined) this.#replies.poke(reply);
  }

  sendCard(start: ReplyStart, card: CardBody, options?: SendOptions): void {
    // A card is complete from its start, and only ordinary messages have a keyboard.
    this.#sendBody(start, card.text, { kind: "card", card, ifDeleted: "leave" }, options);
  }

  storeFile(messengerId: string, file: OutgoingFile): Promise<OutgoingMedia> {
    return this.heldFiles.add(messengerId, file, this.#surfaces.of(messengerId));
  }

  async storeImage(messengerId: string, source: PictureBytes): Promise<OutgoingMedia | undefined> {
    const surface = this.#surfaces.of(messengerId);
    const { files, images } = surface.capabilities;
    if (images !== true || files === undefined) return undefined;
    return this.heldFiles.add(messengerId, { kind: "photo", source }, surface);
  }

  sendFiles(
    start: ReplyStart,
    files: readonly OutgoingMedia[],
    caption: string,
    options?: SendOptions,
  ): void {
    this.#sendBody(start, caption, { kind: "files", files }, options);
  }

  sendLocation(start: ReplyStart, location: Omit<LocationContent, "kind">, options?: SendOptions): void {
    this.#sendBody(start, "", { kind: "location", location }, options);
  }

  /** Sends a message that is complete from its start, never as a rich message. */
  #sendBody(start: ReplyStart, text: string, body: ReplyBody, options: SendOptions | undefined): void {
    const policy = { ...start.policy, mode: "edit", richMessages: false } as const;
    const reply = this.#begin({ ...start, policy }, { text, body, options });
    if (reply !== undefined) this.#replies.poke(reply);
  }

  mark(start: MarkStart): void {
    this.#marks.add(start);
  }

  revise(replyId: string, card: CardBody, ifDeleted: IfDeleted = "leave"): boolean {
    return this.#reopen(replyId, card.text, { kind: "card", card, ifDeleted });
  }

  remove(replyId: string, key: string, text: string): boolean {
    return this.#reopen(replyId, text, { kind: "removed", key, isLocked: false });
  }

  learnMessage(replyId: string, { chatId }: Address, messageId: string): void {
    const known = this.#replies.get(replyId);
    const record = known?.record ?? this.#store.read(replyId);
    const surface = record === undefined ? undefined : this.#surfaces.find(record.address);
    if (record?.content !== "card" || record.address.chatId !== chatId || surface === undefined) return;
    const reply =
      known ?? new Reply(record, this.#entriesOfEarlierLife(record), this.#options.deps.clock.now());
    if (!takeTold(this.#context, reply, surface, messageId)) return;
    const { body, text } = record;
    if (known !== undefined) this.#replies.poke(known);
    else if (text !== undefined && body !== undefined) this.#reopen(replyId, text, body);
  }

  async answerAction(address: Address, press: Press, notice?: ActionNotice): Promise<boolean> {
    return answerAction(this.#context, address, press, notice);
  }

  move(messengerId: string, move: ChatMove): boolean {
    return this.#replies.move(messengerId, move);
  }

  movedTo(messengerId: string, chatId: string): ChatPlace | undefined {
    return this.#moves.placeOf(messengerId, chatId);
  }

  revive(chatId: string): void {
    this.#store.revive(chatId);
  }

  resume(place: GonePlace): void {
    this.#replies.resume(place);
  }

  async run(): Promise<void> {
    this.#sweep.run();
    for (const lane of this.#lanes.all()) lane.run();
    const marks = this.#marks.run();
    this.#wake.update();
    await Promise.all([marks, this.#unfilled.run(), ...this.#lanes.all().map((lane) => lane.idle())]);
  }

  nextWakeAt(): number | undefined {
    return this.#wake.at;
  }

  settled(replyId: string): Promise<ReplyState> {
    return this.#replies.settled(replyId);
  }

  receipt(replyId: string): DeliveryReceipt | undefined {
    return this.#receipts.get(replyId) ?? this.#marks.receipt(replyId);
  }

  receipts(filter: DeliveryFilter = {}): DeliveryReceipt[] {
    return this.#receipts.list(filter);
  }

  isInDoubt(chat: ChatKey, exceptThreadId: string): boolean {
    return this.#doubts.isBeside(chat, exceptThreadId);
  }

  isUnresolved(chat: ChatKey): boolean {
    return this.#doubts.isUnresolved(chat) || this.#lostInto(chat).length > 0;
  }

  /**
   * Threads with a lost post of a reply that has ended. The process that ended it may have died before it reported
   * that.
   */
  #lostInto(chat: ChatKey): readonly string[] {
    return this.#outbox.lostInto(chat, this.#options.deps.clock.now() - RECENT_MS);
  }

  sentIds(chat: ChatKey, afterId: number): readonly number[] {
    return this.#outbox.sentInto(chat, { afterId }).map(({ id }) => id);
  }

  lastUsedAt(): number | undefined {
    return this.#store.lastUsedAt(this.#options.deps.clock.now());
  }

  #reopen(replyId: string, text: string, body: ReplyBody): boolean {
    const known = this.#replies.get(replyId);
    const hadFiles = hashesOf(known?.record.body).length > 0;
    const wasOpen = known?.isOpen === true;
    const reply = this.#revisions.reopen(replyId, known, text, body);
    if (reply === undefined) return false;
    if (hadFiles) this.heldFiles.release(replyId);
    this.heldFiles.hold(replyId, hashesOf(body));
    if (!wasOpen) this.#admit(reply);
    this.#replies.poke(reply);
    return true;
  }

  /**
   * Returns the reply of this id, which is created if it is new. Undefined if it has ended. With a text it is a notice.
   */
  #begin(meant: ReplyStart, { body, options, text }: WholeReply): Reply | undefined {
    const start = this.#moves.atCurrentPlace(meant);
    const known = this.#replies.get(start.id);
    if (known !== undefined) return known.isOpen ? known : undefined;
    if (this.#store.read(start.id) !== undefined) return undefined;
    const now = this.#options.deps.clock.now();
    const goneCode = this.#store.goneCode(start.address);
    const position = Math.max(now, this.#lastPosition + 1);
    const policy = this.#rich.policyFor(start.address.messengerId, start.policy);
    const record = newRecord({ ...start, policy }, { body, options, text }, position, now);
    const reply = new Reply(record, [], now);
    this.#options.database.transaction(() => {
      this.#store.insert(record, undefined);
      this.heldFiles.hold(record.id, hashesOf(body));
      if (start.takesOver !== undefined) this.#takeOver(reply, start.takesOver);
    });
    this.#lastPosition = record.position;
    this.#admit(reply);
    if (goneCode === undefined) return reply;
    this.#replies.end(reply, "gone", goneCode);
    this.#replies.poke(reply);
    return undefined;
  }

  #takeOver(reply: Reply, earlierId: string): void {
    const earlier = this.#replies.get(earlierId);
    const record = earlier?.record ?? this.#store.read(earlierId);
    if (record === undefined || laneKey(record.address) !== laneKey(reply.record.address)) return;
    const surface = this.#surfaces.find(record.address);
    if (surface?.capabilities.edit !== true) return;
    const entries = earlier?.entries ?? this.#entriesOfEarlierLife(record);
    if (earlier?.isOpen === true) this.#replies.end(earlier, "withdrawn", undefined);
    else if (record.state === "delivered" || record.state === "failed") {
      const ended = { ...record, state: "withdrawn", code: undefined } as const;
      this.#store.end(ended, this.#options.deps.clock.now());
    }
    reply.entries = adoptMessages(
      this.#outbox,
      reply.record,
      entries,
      surface.probing !== undefined || surface.search !== undefined,
    );
    if (earlier !== undefined) earlier.entries = [];
    this.#replies.remove(earlierId);
  }

  /** Returns the entries of a reply that an earlier process has ended. An edit of that process may still land. */
  #entriesOfEarlierLife(record: ReplyRecord): OutboxEntry[] {
    const { address, endedAt, policy } = record;
    const strayUntil = editLandsBy(policy, this.#surfaces.find(address), endedAt ?? 0);
    const now = this.#options.deps.clock.now();
    return this.#entriesAfterStart(record, strayUntil, now);
  }

  #entriesAfterStart({ address, id, policy }: ReplyRecord, strayUntil: number, now: number): OutboxEntry[] {
    const askedUntil = editLandsBy(policy, this.#surfaces.find(address), now);
    return this.#outbox.rowsOf(id).map((row) => entryAfterStart(row, { askedUntil, now, strayUntil }));
  }

  /** Notes which posts of a reply that waits for its chat were under way. As such they would hold up other posts. */
  #loseCalls(reply: Reply): void {
    if (this.#surfaces.find(reply.record.address) === undefined) return;
    for (const entry of reply.entries)
      if (entry.row.state === "sending") markLost(this.#context, reply, entry);
  }

  #canEdit({ record }: Reply): boolean {
    return this.#surfaces.find(record.address)?.capabilities.edit === true;
  }

  #admit(reply: Reply): void {
    this.#replies.add(reply);
    const surface = this.#surfaces.find(reply.record.address);
    if (surface !== undefined) learnIds(this.#context.budget, reply, surface);
  }
}

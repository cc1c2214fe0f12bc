import type { MessageBlock } from "../../../src/core/message/message-block.ts";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import type {
  Address,
  LostPost,
  OutgoingContent,
  Pacing,
  RichMessages,
} from "../../../src/core/chat/surface.ts";
import type { Place, PlatformKind, RichServer, SearchKind } from "../plan/plan.ts";

/** The limits of the modelled platform: small, so that a short text makes several messages. */
export const LIMITS = { maxLength: 150, maxEntities: 100 };

/** Messages of blocks: longer, but not as long as the longest text. */
export const RICH: RichMessages = {
  limits: { maxLength: 500, maxEntities: 40 },
  unsupportedCode: "rich-unsupported",
  refusedCode: "rich-refused",
  doubtfulCode: "rich-doubtful",
};

/** The bot's own limits. The platform allows a little more, as the real one does. */
export const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_000 },
  global: { burst: 30, everyMs: 34 },
};

/** Limits of the text below a file or a picture. */
export const CAPTION_LIMITS = { maxLength: 100, maxEntities: 100 };

/** The visible content of a message. */
export interface ShownContent extends RichText {
  readonly buttons?: OutgoingContent["buttons"];
  /** The content of the files, in order: an album has several. A place or a picture counts as one. `idOf` names a known file. */
  readonly media?: readonly string[];
  /** For an edit: whether the text is below a file or a picture that stays. */
  readonly isCaption?: boolean;
}

/** Names a file that the platform has, in place of what is in it. */
export function idOf(fileId: string): string {
  return `id:${fileId}`;
}

export interface PlatformMessage {
  readonly id: number;
  readonly threadId: string;
  readonly chatId: string;
  readonly isFromBot: boolean;
  text: string;
  entities: RichText["entities"];
  blocks: RichText["blocks"];
  buttons: ShownContent["buttons"];
  /** The content of its file or picture. */
  media: string | undefined;
  /** The side that has taken it away. */
  deletedBy: "bot" | "person" | undefined;
  /** Whether it is being streamed into. It cannot be edited until that has ended. */
  isStreaming: boolean;
  /** The number of the call that made it. */
  readonly call: number;
  /** The key of its post, and when it was made. */
  readonly key: string | undefined;
  readonly at: number;
}

export type Refusal =
  | { readonly kind: "flood"; readonly retryAfterS: number }
  | { readonly kind: "blocked" }
  | { readonly kind: "not-found" }
  /** It is too old to be removed. */
  | { readonly kind: "locked" }
  /** Said of a probe only, where a box has one chat: the message is not somebody else's either. */
  | { readonly kind: "not-there" }
  | { readonly kind: "not-modified" }
  /** The platform does not know a file by this id. */
  | { readonly kind: "file-id" }
  /** `isUnknown`: the server knows no such messages. */
  | { readonly kind: "blocks"; readonly isUnknown: boolean }
  | { readonly kind: "bad-request"; readonly why: string };

/** A preview, not a message. It fades by itself, and disappears when the bot posts a message to its thread. */
interface PlatformDraft {
  readonly id: number;
  readonly text: string;
  readonly until: number;
}

export class PlatformRefusal extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

interface Flood {
  tokens: number;
  at: number;
  penaltyUntil: number;
}

/** How long a platform with `repeats` makes no second message with a key. */
export const REMEMBERS_KEYS_MS = 40_000;

/** How the name of a place begins. */
export const PLACE = "place ";

const DIRECT_CAPACITY = 6;
const GROUP_CAPACITY = 20;
/** Time that each call during a penalty adds to it. */
const PENALTY_GROWTH_MS = 2_000;
const FLOOD_PENALTY_S = 5;

/** Time for which a draft is visible. */
export const DRAFT_LASTS_MS = 6_000;

/**
 * A chat platform with the rules of Telegram, as far as they matter for the delivery, or with those of other platforms.
 * It outlives every process.
 */
export class Platform {
  readonly messages: PlatformMessage[] = [];
  /** Everything with buttons that a person has seen. */
  readonly keyboards: (Pick<PlatformMessage, "id" | "threadId"> & ShownContent)[] = [];
  /** The text of a message whose buttons a search has taken away. */
  strippedBySearch: string | undefined;
  /** Calls that arrived while their chat was in a penalty. */
  penaltyBreaches = 0;
  readonly kind: PlatformKind;
  readonly search: SearchKind;
  /** Number of messages that the last search has found. */
  lastFound = 0;
  readonly #now: () => number;
  readonly #drafts = new Map<string, PlatformDraft>();
  readonly #lastIds = new Map<string, number>();
  readonly #floods = new Map<string, Flood>();
  readonly #blocked = new Set<string>();
  readonly #locked = new Set<PlatformMessage>();
  readonly #boxes = new Map<string, string>();
  readonly #rich: RichServer;
  readonly #startedAt: number;
  readonly #blocksTaken = new Set<string>();
  /** Contents of the files that the platform has, by id. */
  readonly #files = new Map<string, string>();
  /** The same for all ids that it ever gave. */
  readonly #ids = new Map<string, string>();
  #richCalls = 0;

  constructor(
    kind: PlatformKind,
    now: () => number,
    places: readonly Place[],
    rich: RichServer = { kind: "never" },
    search: SearchKind = "none",
  ) {
    this.kind = kind;
    this.search = search;
    this.#now = now;
    this.#rich = rich;
    this.#startedAt = now();
    for (const { chatId, box } of places) this.#boxes.set(chatId, box);
  }

  /** A person writes: takes an id of the chat's box. */
  write(place: Place): number {
    const id = this.#nextId(place.chatId);
    const { threadId, chatId } = place;
    const shown = { text: "", entities: [], blocks: undefined, buttons: undefined, media: undefined };
    const rest = { ...shown, isStreaming: false, call: 0, key: undefined, at: this.#now() };
    this.messages.push({ id, threadId, chatId, isFromBot: false, deletedBy: undefined, ...rest });
    return id;
  }

  setBlocked(chatId: string, isBlocked: boolean): void {
    if (isBlocked) this.#blocked.add(chatId);
    else this.#blocked.delete(chatId);
  }

  /** Begins a penalty of the chat, regardless of its rate. */
  penalize(chatId: string, retryAfterS: number): never {
    const flood = this.#flood(chatId);
    flood.penaltyUntil = Math.max(flood.penaltyUntil, this.#now() + retryAfterS * 1_000);
    throw new PlatformRefusal({ kind: "flood", retryAfterS });
  }

  /**
   * `isLookup`: a call about a message that is not there. Telegram's server finds that out before it edits, so the call
   * does not count against the chat's rate.
   *
   * @throws {PlatformRefusal} for a chat that is in a penalty, which this call lengthens, has used up its rate, or is blocked
   */
  admit({ chatId, isDirectMessage }: Address, isLookup = false): void {
    const now = this.#now();
    const flood = this.#flood(chatId);
    if (flood.penaltyUntil > now) {
      this.penaltyBreaches += 1;
      flood.penaltyUntil += PENALTY_GROWTH_MS;
      const retryAfterS = Math.ceil((flood.penaltyUntil - now) / 1_000);
      throw new PlatformRefusal({ kind: "flood", retryAfterS });
    }
    const capacity = isDirectMessage ? DIRECT_CAPACITY : GROUP_CAPACITY;
    flood.tokens = Math.min(capacity, flood.tokens + (now - flood.at) / (isDirectMessage ? 1_000 : 3_000));
    flood.at = now;
    if (!isLookup) {
      if (flood.tokens < 1) this.penalize(chatId, FLOOD_PENALTY_S);
      flood.tokens -= 1;
    }
    if (this.#blocked.has(chatId)) throw new PlatformRefusal({ kind: "blocked" });
  }

  /** @throws {PlatformRefusal} for blocks that this server refuses */
  takeBlocks(blocks: readonly MessageBlock[]): void {
    const server = this.#rich;
    const isUnknown =
      server.kind === "never" || (server.kind === "until" && this.#now() >= this.#startedAt + server.at);
    const shown = JSON.stringify(blocks);
    if (!this.#blocksTaken.has(shown)) this.#richCalls += 1;
    const isRefused = server.kind === "refuses" && server.call === this.#richCalls;
    // Blocks that were accepted once are accepted again.
    if (isUnknown || (isRefused && !this.#blocksTaken.has(shown))) {
      throw new PlatformRefusal({ kind: "blocks", isUnknown });
    }
    this.#blocksTaken.add(shown);
    if (blocks.length === 0) throw new PlatformRefusal({ kind: "bad-request", why: "no blocks" });
  }

  /** Returns the ids of the messages: one, or one for each file of an album, of which the first has the caption. */
  post(
    address: Address,
    content: ShownContent,
    call: number,
    isStreaming = false,
    key?: string,
  ): readonly number[] {
    const first = this.search === "repeats" ? this.#remembered(key) : undefined;
    if (first !== undefined) return [first];
    return this.#make(address, content, { call, isStreaming, key, at: this.#now() });
  }

  /** Returns the messages with a key, or those with the lost text. */
  find({ chatId, threadId }: Address, { isOther, isText, key, since }: LostPost): readonly number[] {
    const found = this.messages.filter(
      (message) =>
        message.isFromBot &&
        message.chatId === chatId &&
        message.threadId === threadId &&
        message.deletedBy === undefined &&
        (this.search === "lists"
          ? message.at >= since && isText(message.text) && !isOther(String(message.id))
          : message.key === key),
    );
    this.lastFound = found.length;
    return found.map(({ id }) => id);
  }

  #remembered(key: string | undefined): number | undefined {
    if (key === undefined) return undefined;
    const first = this.messages.find((message) => message.key === key);
    return first !== undefined && this.#now() < first.at + REMEMBERS_KEYS_MS ? first.id : undefined;
  }

  #make(
    address: Address,
    content: ShownContent,
    origin: Pick<PlatformMessage, "call" | "isStreaming" | "key" | "at">,
  ): readonly number[] {
    const [first, ...more] = (content.media ?? []).map((one) => this.#fileOf(one));
    checkText(content);
    const { threadId, chatId } = address;
    const { text, entities, blocks, buttons } = content;
    const shown = { text, entities, blocks, buttons, media: first };
    const made = { threadId, chatId, isFromBot: true, ...origin, deletedBy: undefined };
    const ids = [this.#nextId(chatId)];
    this.messages.push({ ...made, id: ids[0] ?? 0, ...shown });
    for (const media of more) {
      const id = this.#nextId(chatId);
      ids.push(id);
      const bare = { text: "", entities: [], blocks: undefined, buttons: undefined };
      this.messages.push({ ...made, id, ...bare, media });
    }
    if (buttons !== undefined) this.keyboards.push({ id: ids[0] ?? 0, threadId, ...content });
    this.#drafts.delete(threadId);
    return ids;
  }

  /** Shows a draft, in private chats only. A draft has no id of the box. */
  showDraft({ threadId, isDirectMessage }: Address, draftId: number, content: RichText): void {
    checkText(content);
    if (!isDirectMessage) throw new PlatformRefusal({ kind: "bad-request", why: "no drafts here" });
    this.#drafts.set(threadId, { id: draftId, text: content.text, until: this.#now() + DRAFT_LASTS_MS });
  }

  /** The draft that a person sees in a thread. */
  draft(threadId: string): PlatformDraft | undefined {
    const draft = this.#drafts.get(threadId);
    return draft !== undefined && draft.until > this.#now() ? draft : undefined;
  }

  append(address: Address, messageId: string, more: RichText): void {
    const message = this.#own(address, messageId);
    if (!message.isStreaming) throw new PlatformRefusal({ kind: "bad-request", why: "not streaming" });
    const shift = message.text.length;
    const added = more.entities.map((entity) => ({ ...entity, offset: entity.offset + shift }));
    const content = { text: message.text + more.text, entities: [...message.entities, ...added] };
    checkText(content);
    Object.assign(message, content);
  }

  endStream(address: Address, messageId: string): void {
    this.#own(address, messageId).isStreaming = false;
  }

  /** An edit without buttons takes away those that the message has. */
  edit(address: Address, messageId: string, content: ShownContent): void {
    const message = this.#own(address, messageId);
    const hasCaption = content.isCaption === true || content.media !== undefined;
    if (hasCaption !== (message.media !== undefined))
      throw new PlatformRefusal({ kind: "bad-request", why: "a caption is no text" });
    if (message.media?.startsWith(PLACE) === true)
      throw new PlatformRefusal({ kind: "bad-request", why: "a place cannot be edited" });
    const [media = message.media] = (content.media ?? []).map((one) => this.#fileOf(one));
    checkText({ ...content, isCaption: hasCaption });
    if (this.kind === "fixed") throw new PlatformRefusal({ kind: "bad-request", why: "no edits here" });
    if (message.isStreaming) throw new PlatformRefusal({ kind: "bad-request", why: "streaming" });
    if (isSame(message, content) && message.media === media)
      throw new PlatformRefusal({ kind: "not-modified" });
    message.media = media;
    message.text = content.text;
    message.entities = content.entities;
    message.blocks = content.blocks;
    message.buttons = content.buttons;
    if (content.buttons !== undefined)
      this.keyboards.push({ id: message.id, threadId: message.threadId, ...content });
  }

  /** `isLocked`: the platform does not remove messages that have had buttons. */
  remove(address: Address, messageId: string, isLocked = false): void {
    if (this.kind === "fixed") throw new PlatformRefusal({ kind: "bad-request", why: "no deletions here" });
    const message = this.#own(address, messageId);
    if (isLocked && message.buttons !== undefined) this.#locked.add(message);
    // A message that is too old stays too old.
    if (this.#locked.has(message)) throw new PlatformRefusal({ kind: "locked" });
    message.deletedBy = "bot";
  }

  /** A person deletes the bot's last message in a thread, or one before it. The bot is not told. */
  deleteByPerson(threadId: string, back: number): PlatformMessage | undefined {
    const message = this.visible(threadId).at(-1 - back);
    if (message !== undefined) message.deletedBy = "person";
    return message;
  }

  /** Whether a person has deleted this message of the bot. */
  isDeletedByPerson(threadId: string, messageId: string): boolean {
    return this.messages.some(
      (message) =>
        message.threadId === threadId && String(message.id) === messageId && message.deletedBy === "person",
    );
  }

  /** Whether a message of the bot has this id. */
  hasOwn({ chatId }: Address, messageId: string): boolean {
    return this.messages.some(
      (message) =>
        message.isFromBot &&
        message.chatId === chatId &&
        String(message.id) === messageId &&
        message.deletedBy === undefined,
    );
  }

  /**
   * Gives a message the buttons that it has, which tells whether it is the bot's own: "not modified" when it is. Other
   * buttons take the place of those that it has.
   */
  probe(address: Address, messageId: string, buttons?: ShownContent["buttons"]): "own" {
    const { chatId } = address;
    if (this.boxOf(chatId) === chatId && !this.#isThere(chatId, Number(messageId))) {
      throw new PlatformRefusal({ kind: "not-there" });
    }
    const message = this.#own(address, messageId);
    if (JSON.stringify(message.buttons) === JSON.stringify(buttons)) {
      throw new PlatformRefusal({ kind: "not-modified" });
    }
    if (buttons === undefined) this.strippedBySearch = message.text;
    message.buttons = buttons;
    return "own";
  }

  /** Whether a person has deleted any message of the bot in a thread. */
  hasDeletions(threadId: string): boolean {
    return this.messages.some((message) => message.threadId === threadId && message.deletedBy === "person");
  }

  textOf(chatId: string, messageId: string): string {
    return this.messages.find((one) => one.chatId === chatId && String(one.id) === messageId)?.text ?? "";
  }

  /** Returns the box whose ids a chat's messages have. */
  boxOf(chatId: string): string {
    return this.#boxes.get(chatId) ?? "own";
  }

  /** Returns the bot's messages that a person sees in a thread. */
  visible(threadId: string): PlatformMessage[] {
    return this.messages.filter(
      (message) => message.threadId === threadId && message.isFromBot && message.deletedBy === undefined,
    );
  }

  /** Gives each file an id by which it can be sent again. */
  keep(media: readonly string[]): readonly string[] {
    return media.map((one) => {
      const file = this.#fileOf(one);
      const [known] = [...this.#files].find(([, kept]) => kept === file) ?? [];
      const fileId = known ?? `file-${this.#ids.size}`;
      this.#files.set(fileId, file);
      this.#ids.set(fileId, file);
      return fileId;
    });
  }

  /** The ids of all files mean nothing any more. */
  forgetFiles(): void {
    this.#files.clear();
  }

  /** Returns what is in a file, as far as an id says. */
  nameOf(media: string): string {
    const fileId = media.startsWith(idOf("")) ? media.slice(idOf("").length) : undefined;
    return fileId === undefined ? media : (this.#ids.get(fileId) ?? media);
  }

  /** Returns what is in a file, if the platform knows its id. */
  #fileOf(media: string): string {
    if (!media.startsWith(idOf(""))) return media;
    const known = this.#files.get(media.slice(idOf("").length));
    if (known === undefined) throw new PlatformRefusal({ kind: "file-id" });
    return known;
  }

  #own({ chatId }: Address, messageId: string): PlatformMessage {
    const found = this.messages.find(
      (message) =>
        message.chatId === chatId && String(message.id) === messageId && message.deletedBy === undefined,
    );
    if (found?.isFromBot !== true) throw new PlatformRefusal({ kind: "not-found" });
    return found;
  }

  #isThere(chatId: string, id: number): boolean {
    if (id > (this.#lastIds.get(this.boxOf(chatId)) ?? 0)) return false;
    const found = this.messages.find((message) => message.chatId === chatId && message.id === id);
    return found?.deletedBy === undefined;
  }

  #nextId(chatId: string): number {
    const box = this.boxOf(chatId);
    const id = (this.#lastIds.get(box) ?? 100) + 1;
    this.#lastIds.set(box, id);
    return id;
  }

  #flood(chatId: string): Flood {
    const known = this.#floods.get(chatId);
    if (known !== undefined) return known;
    const flood = {
      tokens: Number(chatId) > 0 ? DIRECT_CAPACITY : GROUP_CAPACITY,
      at: this.#now(),
      penaltyUntil: 0,
    };
    this.#floods.set(chatId, flood);
    return flood;
  }
}

function checkText({ text, entities, blocks, media, isCaption = media !== undefined }: ShownContent): void {
  if (text.trim() === "" && !isCaption) throw new PlatformRefusal({ kind: "bad-request", why: "empty" });
  // Separators of blocks do not count.
  const length = blocks === undefined ? text.length : text.replaceAll(/\s/g, "").length;
  const { maxLength } = isCaption ? CAPTION_LIMITS : blocks === undefined ? LIMITS : RICH.limits;
  if (length > maxLength) throw new PlatformRefusal({ kind: "bad-request", why: "too long" });
  const isOutside = entities.some(
    ({ offset, length }) => offset < 0 || length < 1 || offset + length > text.length,
  );
  if (isOutside) throw new PlatformRefusal({ kind: "bad-request", why: "entities" });
}

function isSame(message: Omit<ShownContent, "media">, content: Omit<ShownContent, "media">): boolean {
  return (
    message.text === content.text &&
    JSON.stringify(message.buttons) === JSON.stringify(content.buttons) &&
    JSON.stringify(message.entities) === JSON.stringify(content.entities) &&
    JSON.stringify(message.blocks) === JSON.stringify(content.blocks)
  );
}

import { buttonKey, cardKey, cardToken } from "../../core/chat/card-token.ts";
import { checkContent, isBytes } from "../../core/message/check-content.ts";
import type {
  CardButton,
  CardContent,
  Content,
  ContentOptions,
  FileKind,
  FilesContent,
  PictureBytes,
} from "../../core/message/content.ts";
import type { Database } from "../../core/store/database.ts";
import { REMOVED_TEXT } from "../../core/chat/delivery.ts";
import type { CardBody, Delivery, IfDeleted, ReplyPolicy } from "../../core/chat/delivery.ts";
import type { Deps } from "../../core/base/deps.ts";
import { failureCode, InvalidInputError } from "../../core/base/errors.ts";
import { publicUrlOf } from "../../core/web/public-url.ts";
import type { Address, OutgoingButton, OutgoingImage, OutgoingMedia } from "../../core/chat/surface.ts";
import type { UnsentFile } from "../../core/message/unsent-file.ts";
import type { UnsentFiles } from "./unsent-files.ts";
import { createCardStore } from "./card-store.ts";
import type { CardStore, StoredButton, StoredCard } from "./card-store.ts";
import { Sweep } from "../../core/store/sweep-store.ts";

export interface CardsOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly delivery: Delivery;
  readonly unsent: UnsentFiles;
}

/** Destination and options of content. */
export interface Posting {
  /** Id of the reply. A second post with this id sends nothing. */
  readonly id: string;
  readonly address: Address;
  readonly policy: ReplyPolicy;
  readonly options?: ContentOptions | undefined;
  /** The newest message id of the chat that is known. */
  readonly seenMessageId?: string | undefined;
  /** See `ReplyStart.isAwaited`. @default false */
  readonly isAwaited?: boolean;
  /** The feature whose card it is, which gets its presses. @default "": the bot's own code */
  readonly owner?: string | undefined;
  /** Whether it waits for the running answer of its thread. @default false */
  readonly waitsForAnswer?: boolean | undefined;
}

/** Files whose bytes are durable, and the texts of those that cannot be sent. */
export interface StoredFilesContent {
  readonly kind: "stored-files";
  readonly files: readonly OutgoingMedia[];
  readonly caption: string;
}

/** A card that is ready to be sent. */
export interface StoredCardContent {
  readonly kind: "stored-card";
  readonly card: CardContent;
  /** Its picture, which is durable. Undefined if it has none, or its messenger shows none. */
  readonly image: OutgoingMedia | undefined;
  /** See `CardNews.asksForWord`. @default false */
  readonly asksForWord?: boolean;
  /** See `CardNews.asksForQuote`. @default false */
  readonly asksForQuote?: boolean;
  /** See `CardNews.asksForMessage`. @default false */
  readonly asksForMessage?: boolean;
}

/** Content that can be sent at once. */
export type ReadyContent = Exclude<Content, FilesContent> | StoredFilesContent | StoredCardContent;

const KEEP_MS = 90 * 24 * 60 * 60 * 1000;
/** Buttons that a card shows no more and that are still known. */
const MOST_OLD = 60;

/**
 * Sends content of bot code, and keeps the cards among it. Payloads stay here; only tokens are sent to the platform.
 *
 * A button keeps its token while its payload and label stay the same. So a press that was on its way during a revision
 * still counts. A press of a button that is no longer on the card does not.
 */
export class Cards {
  readonly store: CardStore;
  readonly #options: CardsOptions;
  /** The newest revision of each card that waits for its picture. Later ones wait for it. */
  readonly #revising = new Map<string, Promise<unknown>>();
  readonly #sweep: Sweep;

  constructor(options: CardsOptions) {
    this.#options = options;
    this.store = createCardStore(options.database);
    this.#sweep = new Sweep(options.database, options.deps.clock, [
      { table: "card_v1", since: "created_at", keepMs: KEEP_MS },
      { table: "press_v1", since: "begun_at", keepMs: KEEP_MS },
    ]);
  }

  /**
   * Makes the files of content durable, one after the other. Returns the content for `post`.
   *
   * @throws {InvalidInputError} if the content is not valid, or a file cannot be sent
   * @throws {SwitchboardError} if a file could not be read and may be later
   */
  async prepare(messengerId: string, content: Content): Promise<ReadyContent> {
    const checked = checkContent(content);
    const picture = pictureBytes(checked);
    if (checked.kind === "card" && picture !== undefined) {
      const image = await this.#options.delivery.storeImage(messengerId, picture);
      return { kind: "stored-card", card: checked, image };
    }
    if (checked.kind !== "files") return checked;
    const files: OutgoingMedia[] = [];
    for (const file of checked.files) files.push(await this.#options.delivery.storeFile(messengerId, file));
    return { kind: "stored-files", files, caption: checked.caption ?? "" };
  }

  /**
   * Makes the files of content durable, as `prepare` does. People read the name of a file that cannot be sent, with the
   * reason, and a card continues without its picture.
   *
   * @throws {InvalidInputError} if the content is not valid
   */
  async prepareOrTell(messengerId: string, content: Content): Promise<ReadyContent> {
    const checked = checkContent(content);
    if (checked.kind === "files") return this.#filesOrTexts(messengerId, checked);
    try {
      return await this.prepare(messengerId, checked);
    } catch (error) {
      if (checked.kind !== "card" || checked.image === undefined) throw error;
      const { image: _image, ...card } = checked;
      return card;
    }
  }

  async #filesOrTexts(
    messengerId: string,
    { caption = "", files }: FilesContent,
  ): Promise<StoredFilesContent> {
    const stored: OutgoingMedia[] = [];
    for (const file of files) {
      try {
        stored.push(await this.#options.delivery.storeFile(messengerId, file));
      } catch (error) {
        const { kind, name = kind, source } = file;
        const url = publicUrlOf(source);
        stored.push(this.unsentFile(messengerId, kind, { name, url, code: failureCode(error) }));
      }
    }
    return { kind: "stored-files", files: stored, caption };
  }

  /** Returns a file that cannot be sent. People read a text in its place. */
  unsentFile(messengerId: string, kind: FileKind, file: UnsentFile): OutgoingMedia {
    const { code, name, url = "" } = file;
    const text = this.#options.unsent.textOf(messengerId, file);
    return { kind, name, mediaType: "", source: { kind: "address", url }, refusal: { code, text } };
  }

  /**
   * Sends content once for each id.
   *
   * @throws {InvalidInputError} if the content is not valid; nothing is sent then
   */
  post(
    {
      address,
      id,
      options = {},
      owner = "",
      policy,
      seenMessageId,
      isAwaited = false,
      waitsForAnswer,
    }: Posting,
    content: ReadyContent,
  ): void {
    const { database, delivery, deps, unsent } = this.#options;
    const checked = isStored(content) ? content : checkContent(content);
    const { protect, replyTo, silent } = options;
    const sending = { ...(silent !== undefined && { silent }), ...(protect !== undefined && { protect }) };
    const start = {
      id,
      address,
      policy,
      isAwaited,
      ...(replyTo !== undefined && { replyTo }),
      ...(seenMessageId !== undefined && { seenMessageId }),
      ...(waitsForAnswer !== undefined && { waitsForAnswer }),
    };
    if (checked.kind === "text") {
      delivery.send(start, checked.text, sending);
      return;
    }
    if (checked.kind === "stored-files") {
      for (const [index, { refusal }] of checked.files.entries())
        if (refusal !== undefined) unsent.note(`${id}:${index}`, refusal.text);
      delivery.sendFiles(start, checked.files, checked.caption, sending);
      return;
    }
    if (checked.kind === "location") {
      const { kind: _kind, ...location } = checked;
      delivery.sendLocation(start, location, sending);
      return;
    }
    if (checked.kind === "files")
      throw new InvalidInputError("content-invalid", "Files are sent with say(), or returned by a handler.");
    const { card, image, ...asks } = drawn(checked);
    if (this.store.read(id) !== undefined) return;
    this.#sweep.run();
    const key = cardKey(deps.newId());
    const buttons = this.#buttonsOf(card, []);
    const { chatId, messengerId } = address;
    database.transaction(() => {
      this.store.insert({ id, key, messengerId, chatId, buttons, isRemoved: false, owner }, deps.clock.now());
      delivery.sendCard(start, { ...bodyOf(key, card, image, buttons), ...asks }, sending);
    });
  }

  /**
   * Changes a card. Returns `false` if the card no longer exists, or its chat accepts no messages.
   *
   * @param keepsOld whether presses of buttons that the card shows no more still reach their handler
   * @throws {InvalidInputError} if the content is not valid; the card stays as it is then
   */
  revise(
    id: string,
    content: Content | StoredCardContent,
    ifDeleted: IfDeleted = "leave",
    keepsOld = false,
  ): boolean {
    const checked = isStored(content) ? content : checkContent(content);
    if (checked.kind === "files" || checked.kind === "location")
      throw new InvalidInputError(
        "content-invalid",
        "A card can become another card or a text, and nothing else.",
      );
    const { card, image, ...asks } = drawn(
      checked.kind === "text" ? { kind: "card", text: checked.text } : checked,
    );
    const known = this.store.read(id);
    if (known === undefined || known.isRemoved) return false;
    const buttons = this.#buttonsOf(card, known.buttons);
    const shown = new Set(buttons.map(({ button }) => button));
    const old = keepsOld ? known.buttons.filter(({ button }) => !shown.has(button)).slice(-MOST_OLD) : [];
    return this.#options.database.transaction(() => {
      const body = { ...bodyOf(known.key, card, image, buttons), ...asks };
      const isRevised = this.#options.delivery.revise(id, body, ifDeleted);
      if (isRevised) this.store.setButtons(id, [...buttons, ...old]);
      return isRevised;
    });
  }

  /**
   * Changes a card as `revise` does, also to one whose picture is given by its bytes. Revisions of a card take effect
   * in the order of their calls.
   *
   * @throws as `revise` and `prepare`
   */
  async reviseWhenReady(id: string, content: Content, ifDeleted?: IfDeleted): Promise<boolean> {
    const before = this.#revising.get(id);
    const hasBytes = pictureBytes(checkContent(content)) !== undefined;
    if (before === undefined && !hasBytes) return this.revise(id, content, ifDeleted);
    const work = this.#reviseAfter(before, id, content, ifDeleted);
    const end = work.catch(() => undefined);
    this.#revising.set(id, end);
    try {
      return await work;
    } finally {
      if (this.#revising.get(id) === end) this.#revising.delete(id);
    }
  }

  async #reviseAfter(
    before: Promise<unknown> | undefined,
    id: string,
    content: Content,
    ifDeleted: IfDeleted | undefined,
  ): Promise<boolean> {
    const known = this.store.read(id);
    if (known === undefined || known.isRemoved) return false;
    const ready = await this.prepare(known.messengerId, content);
    await before;
    return this.revise(
      id,
      typeof ready === "object" && ready.kind === "stored-card" ? ready : content,
      ifDeleted,
    );
  }

  /** Removes a card. Returns `false` if the card no longer exists, or its chat accepts no messages. */
  remove(id: string): boolean {
    const known = this.store.read(id);
    if (known === undefined || known.isRemoved) return false;
    return this.#options.database.transaction(() => {
      const isRemoved = this.#options.delivery.remove(id, known.key, REMOVED_TEXT);
      if (isRemoved) this.store.setRemoved(id);
      return isRemoved;
    });
  }

  /** Returns the card with this key, if it was posted in this chat, also before the chat moved. */
  find(
    key: string,
    { messengerId, chatId }: Pick<Address, "messengerId" | "chatId">,
  ): StoredCard | undefined {
    const card = this.store.byKey(key);
    if (card === undefined || card.messengerId !== messengerId) return undefined;
    const current = this.#options.delivery.movedTo(messengerId, card.chatId)?.chatId ?? card.chatId;
    return current === chatId ? card : undefined;
  }

  #buttonsOf({ buttons = [] }: CardContent, known: readonly StoredButton[]): StoredButton[] {
    return buttons.flat().flatMap((button) => {
      if (button.kind !== "callback") return [];
      const { label, payload } = button;
      const same = known.find((one) => sameButton(one, { label, payload }));
      return { button: same?.button ?? buttonKey(this.#options.deps.newId()), label, payload };
    });
  }
}

function isStored<T extends ReadyContent | Content>(
  content: T,
): content is Extract<T, StoredFilesContent | StoredCardContent> {
  return typeof content === "object" && (content.kind === "stored-files" || content.kind === "stored-card");
}

function pictureBytes(content: Exclude<Content, string>): PictureBytes | undefined {
  const image = content.kind === "card" ? content.image : undefined;
  return image !== undefined && isBytes(image) ? image : undefined;
}

/** Returns a card, and its picture as it is sent. */
function drawn(content: CardContent | StoredCardContent): {
  readonly card: CardContent;
  readonly image: OutgoingImage | undefined;
  readonly asksForWord?: boolean;
  readonly asksForQuote?: boolean;
  readonly asksForMessage?: boolean;
} {
  if (content.kind === "stored-card") {
    const { kind: _kind, ...stored } = content;
    return stored;
  }
  const { image } = content;
  if (image === undefined || !isBytes(image)) return { card: content, image };
  throw new InvalidInputError(
    "content-invalid",
    "A card with the bytes of a picture is sent with say() and changed with revise().",
  );
}

function sameButton(left: Omit<StoredButton, "button">, right: Omit<StoredButton, "button">): boolean {
  return JSON.stringify([left.label, left.payload]) === JSON.stringify([right.label, right.payload]);
}

function bodyOf(
  key: string,
  { buttons = [], fields, numbered, text }: CardContent,
  image: OutgoingImage | undefined,
  stored: readonly StoredButton[],
): CardBody {
  let next = 0;
  const toOutgoing = (button: CardButton): OutgoingButton => {
    const { kind, label } = button;
    if (kind === "link") return { kind, label, url: button.url };
    if (kind === "copy") return { kind, label, text: button.text };
    const token = cardToken({ key, button: stored[next]?.button ?? "" });
    next += 1;
    return { kind, label, token };
  };
  return {
    key,
    text,
    ...(fields !== undefined && { fields: fields.map(({ label, value }) => ({ label, value })) }),
    ...(image !== undefined && { image }),
    ...(buttons.length > 0 && { buttons: buttons.map((row) => row.map(toOutgoing)) }),
    ...(numbered === true && { numbered }),
  };
}

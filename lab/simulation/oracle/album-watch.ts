import type { Delivery, DeliveryReceipt, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { Life } from "../machine/life.ts";
import { PLACE } from "../platform/platform.ts";
import type { ShownContent } from "../platform/platform.ts";
import type { Invariant, SurfaceCall } from "./contract.ts";
import { isRunOf, wordsOf } from "./visible-text.ts";

/** Files or a place, as the bot has sent them. */
export interface SaidAlbum {
  /** Name of the album in the simulation, such as `f1`. */
  readonly token: string;
  /** The id of its reply. */
  readonly id: string;
  readonly conversation: string;
  readonly threadId: string;
  readonly chatId: string;
  /** Contents of the files, in order. */
  readonly media: readonly string[];
  /** The caption. Of a place where the platform has no maps: the title. */
  readonly words: readonly string[];
  readonly isPlace: boolean;
  /** Whether it is known to be stored; the process may have died over it. */
  isStored: boolean;
}

export interface AlbumWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  /** The newest delivery of a conversation. */
  readonly delivery: (conversation: string) => Delivery | undefined;
}

const ALBUM_WORD = /\bf\d+w\d+/;

/** Knows all files and places that the bot has sent, and sees to it that no call shows anything else of them. */
export class AlbumWatch {
  readonly albums: SaidAlbum[] = [];
  /** Files that were sent by the platform's id, and those of them whose id it did not know. */
  byId = 0;
  idsRefused = 0;
  readonly #options: AlbumWatchOptions;

  constructor(options: AlbumWatchOptions) {
    this.#options = options;
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(conversation: string, delivery: Delivery, life: Pick<Life, "isDead">): void {
    const sendFiles = delivery.sendFiles.bind(delivery);
    const sendLocation = delivery.sendLocation.bind(delivery);
    const said = (
      { address: { chatId, threadId }, id }: ReplyStart,
      content: Pick<SaidAlbum, "media" | "words" | "isPlace">,
      body: () => void,
    ): void => {
      if (life.isDead) return body();
      const known = this.albums.find((album) => album.conversation === conversation && album.id === id);
      const [, token = id] = /:(f\d+)$/.exec(id) ?? [];
      const album = known ?? { token, id, conversation, threadId, chatId, ...content, isStored: false };
      if (known === undefined) this.albums.push(album);
      body();
      album.isStored = true;
    };
    Object.assign(delivery, {
      sendFiles: (start, files, caption, options) => {
        const media = files.map(({ name }) => name);
        const content = { media, words: wordsOf(caption), isPlace: false };
        said(start, content, () => sendFiles(start, files, caption, options));
      },
      sendLocation: (start, location, options) => {
        const content = {
          media: [`${PLACE}${location.latitude}`],
          words: wordsOf(location.title ?? ""),
          isPlace: true,
        };
        said(start, content, () => sendLocation(start, location, options));
      },
    } satisfies Partial<Delivery>);
  }

  /** Whether a content is that of files or of a place. Cards with pictures are not meant. */
  isAlbum({ media, text }: ShownContent): boolean {
    return media !== undefined || ALBUM_WORD.test(text);
  }

  receiptOf({ conversation, id }: SaidAlbum): DeliveryReceipt | undefined {
    return this.#options.delivery(conversation)?.receipt(id);
  }

  receiptsIn(threadId: string): DeliveryReceipt[] {
    return this.albums
      .filter((album) => album.threadId === threadId)
      .flatMap((album) => this.receiptOf(album) ?? []);
  }

  /** Whether some files of a conversation are still to be shown in a chat. */
  hasOpen(conversation: string, chatId: string): boolean {
    return this.albums.some(
      (album) =>
        album.conversation === conversation &&
        album.chatId === chatId &&
        this.receiptOf(album)?.state === "final",
    );
  }

  /** Whether an outbox row of files says that its post is under way. */
  isSending(conversation: string, threadId: string): boolean {
    return this.albums.some(
      (album) =>
        album.conversation === conversation &&
        album.threadId === threadId &&
        this.receiptOf(album)?.messages.some(({ state }) => state === "sending") === true,
    );
  }

  /** `named` are the files of the call, in words: an id says nothing. */
  onCall({ address, content, number }: SurfaceCall, life: Life, named: readonly string[] | undefined): void {
    if (content === undefined) return;
    if (content.media?.join() !== named?.join()) this.byId += 1;
    const words = wordsOf(content.text);
    const isMeant = this.albums.some(
      (album) =>
        album.threadId === address.threadId &&
        album.conversation === life.name &&
        (isRunOf(words, album.words) || (album.isPlace && words[0] === album.words[0])) &&
        isRunOf(named ?? [], album.media),
    );
    if (isMeant) return;
    const what = `${named?.join(", ") ?? "no file"} with the text ${JSON.stringify(content.text)}`;
    this.#options.fail("I5", `call #${number} shows ${what} in ${address.threadId}, which is not said there`);
  }

  onAnswer(error: unknown, code: (error: unknown) => string): void {
    if (error !== undefined && code(error) === "file-unknown") this.idsRefused += 1;
  }
}

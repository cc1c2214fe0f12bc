import type { CardBody, Delivery, DeliveryReceipt, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { OutgoingContent } from "../../../src/core/chat/surface.ts";
import type { Life } from "../machine/life.ts";
import type { Invariant, SurfaceCall } from "./contract.ts";
import { pictureOf } from "../plan/card-picture.ts";
import { isRunOf, stripMark, wordsOf } from "./visible-text.ts";

/** One change that the bot asks of a card. `shows` is undefined if the bot removes the card. */
export interface CardChange {
  readonly shows: CardFace | undefined;
  /** Whether it is known to be stored; the process may have died over it. */
  isStored: boolean;
}

interface CardFace {
  readonly version: number;
  readonly words: readonly string[];
  readonly labels: readonly string[];
  readonly tokens: readonly string[];
  /** Content of the picture, if there is one. */
  readonly picture: string | undefined;
}

export interface SaidCard {
  /** Name of the card in the simulation, such as `k1`. */
  readonly token: string;
  /** The id of its reply. */
  readonly id: string;
  readonly conversation: string;
  readonly threadId: string;
  readonly chatId: string;
  readonly changes: CardChange[];
  /** The newest version whose call was answered. */
  shown: number;
}

export interface CardWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  /** The newest delivery of a conversation. */
  readonly delivery: (conversation: string) => Delivery | undefined;
}

const CARD_WORD = /\b(k\d+)v(\d+)w\d+/;
/** In place of a card that the platform does not remove any more. */
export const REMOVED = "(removed)";

/** Knows what every card was told to show, and sees to it that no call shows anything else, or an older version. */
export class CardWatch {
  readonly cards = new Map<string, SaidCard>();
  revised = 0;
  removed = 0;
  /** Calls that showed a card with its picture. */
  pictures = 0;
  readonly #options: CardWatchOptions;

  constructor(options: CardWatchOptions) {
    this.#options = options;
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(conversation: string, delivery: Delivery, life: Pick<Life, "isDead">): void {
    const sendCard = delivery.sendCard.bind(delivery);
    const revise = delivery.revise.bind(delivery);
    const remove = delivery.remove.bind(delivery);
    const known = (id: string): SaidCard | undefined =>
      [...this.cards.values()].find((card) => card.conversation === conversation && card.id === id);
    const change = (id: string, shows: CardFace | undefined, body: () => boolean): boolean => {
      const asked: CardChange = { shows, isStored: false };
      if (!life.isDead) known(id)?.changes.push(asked);
      asked.isStored = body();
      return asked.isStored;
    };
    Object.assign(delivery, {
      sendCard: (start, body, options) => {
        // Cards of approvals have a watch of their own.
        if (!CARD_WORD.test(body.text)) return sendCard(start, body, options);
        if (!life.isDead) this.#posted(conversation, start, body);
        return change(start.id, faceOf(body), () => {
          sendCard(start, body, options);
          return true;
        });
      },
      revise: (id, body, ifDeleted) => {
        if (known(id) === undefined) return revise(id, body, ifDeleted);
        this.revised += 1;
        return change(id, faceOf(body), () => revise(id, body, ifDeleted));
      },
      remove: (id, key, text) => {
        this.removed += 1;
        return change(id, undefined, () => remove(id, key, text));
      },
    } satisfies Partial<Delivery>);
  }

  /** Whether a content is that of a card. */
  isCard(text: string): boolean {
    return CARD_WORD.test(text) || stripMark(text) === REMOVED;
  }

  /** Whether a message shows all of a card that has buttons, as far as is known. */
  needsButtons(text: string): boolean {
    const [, token = "", version] = CARD_WORD.exec(text) ?? [];
    const card = this.cards.get(token);
    if (card === undefined) return false;
    const faces = CardWatch.lastOf(card).map(({ shows }) => shows);
    const isWhole = (face: CardFace | undefined): boolean =>
      face?.version === Number(version) &&
      face.labels.length > 0 &&
      face.words.length === wordsOf(text).length;
    return faces.length > 0 && faces.every(isWhole);
  }

  receiptsIn(threadId: string): DeliveryReceipt[] {
    return this.#in((card) => card.threadId === threadId).flatMap((card) => this.receiptOf(card) ?? []);
  }

  receiptOf({ conversation, id }: SaidCard): DeliveryReceipt | undefined {
    return this.#options.delivery(conversation)?.receipt(id);
  }

  /** Whether a card of a conversation has something to show in a chat. */
  hasOpen(conversation: string, chatId: string): boolean {
    return this.#in((card) => card.conversation === conversation && card.chatId === chatId).some(
      (card) => this.receiptOf(card)?.state === "final",
    );
  }

  /** Whether an outbox row of a card says that its post is under way. */
  isSending(conversation: string, threadId: string): boolean {
    return this.#in((card) => card.conversation === conversation && card.threadId === threadId).some((card) =>
      this.receiptOf(card)?.messages.some(({ state }) => state === "sending"),
    );
  }

  /** `pictures` is what is in the picture of the call, if it has one. */
  onCall(call: SurfaceCall, life: Life, pictures: readonly string[] = []): void {
    const { address, content, number } = call;
    const found = this.#shownBy(call);
    if (found === undefined) return;
    const { card, face } = found;
    if (card.threadId !== address.threadId || card.conversation !== life.name) {
      this.#options.fail("I11", `call #${number} shows ${card.token} of ${card.threadId} elsewhere`);
    }
    if (face === undefined) {
      this.#options.fail("I5", `call #${number} shows what ${card.token} never was: ${content?.text ?? ""}`);
      return;
    }
    if (face.version < card.shown) {
      this.#options.fail(
        "I5",
        `call #${number} takes ${card.token} back from ${card.shown} to ${face.version}`,
      );
    }
    const words = wordsOf(content?.text ?? "");
    if (pictures.length > 0) this.pictures += 1;
    const wanted = words[0] === face.words[0] && face.picture !== undefined ? [face.picture] : [];
    if (pictures.join() !== wanted.join()) {
      const shown = pictures.join() || "no picture";
      this.#options.fail("I5", `call #${number} shows ${shown} on ${card.token}v${face.version}`);
    }
    const isLast = words.at(-1) === face.words.at(-1);
    const labels = labelsOf(content?.buttons);
    if (labels.join() !== (isLast ? face.labels : []).join()) {
      this.#options.fail(
        "I5",
        `call #${number} shows the buttons ${labels.join() || "none"} on ${card.token}v${face.version}`,
      );
    }
  }

  onAnswer(call: SurfaceCall, error: unknown): void {
    const { card, face } = this.#shownBy(call) ?? {};
    if (error === undefined && card !== undefined && face !== undefined) {
      card.shown = Math.max(card.shown, face.version);
    }
  }

  /** All that a card may show in the end: what it was told last, and what a process may have stored as it died. */
  static lastOf({ changes }: SaidCard): readonly CardChange[] {
    const last = changes.findLastIndex(({ isStored }) => isStored);
    return last === -1 ? [] : changes.slice(last);
  }

  /** Whether a card has the button with this token by now, as far as is known. */
  static hasButton(card: SaidCard, token: string): "yes" | "no" | "perhaps" {
    const last = CardWatch.lastOf(card);
    const having = last.filter(({ shows }) => shows?.tokens.includes(token) === true).length;
    if (having === 0) return "no";
    return having === last.length ? "yes" : "perhaps";
  }

  #posted(conversation: string, { address, id }: ReplyStart, body: CardBody): void {
    const [, token = ""] = CARD_WORD.exec(body.text) ?? [];
    const known = this.cards.get(token);
    if (known === undefined) {
      const { chatId, threadId } = address;
      this.cards.set(token, { token, id, conversation, threadId, chatId, changes: [], shown: 0 });
    } else if (known.id !== id && known.changes.some(({ isStored }) => isStored)) {
      this.#options.fail("I2", `${token} is posted as ${known.id} and as ${id}`);
    }
  }

  #shownBy({
    address,
    content,
  }: SurfaceCall): { readonly card: SaidCard; readonly face: CardFace | undefined } | undefined {
    if (content === undefined) return undefined;
    const [, token = "", version] = CARD_WORD.exec(content.text) ?? [];
    const card = this.cards.get(token);
    if (card === undefined) {
      const isTold = this.#in(
        ({ threadId, changes }) =>
          threadId === address.threadId &&
          (isTakenAway(changes) || isShortened(changes) || isReposted(changes)),
      );
      if (isTold.length === 0) {
        const what = "no card was removed, shortened or posted again";
        this.#options.fail("I5", `${content.text} is shown, and ${what}`);
      }
      return undefined;
    }
    const words = wordsOf(content.text);
    const face = card.changes.find(
      ({ shows }) => shows?.version === Number(version) && isRunOf(words, shows.words),
    )?.shows;
    return { card, face };
  }

  #in(isMeant: (card: SaidCard) => boolean): SaidCard[] {
    return [...this.cards.values()].filter(isMeant);
  }
}

function isTakenAway(changes: readonly CardChange[]): boolean {
  return changes.some(({ shows }) => shows === undefined);
}

/** Whether a card was told to show fewer words than before, and so may need fewer messages. */
function isShortened(changes: readonly CardChange[]): boolean {
  return changes.some(({ shows }, at) => {
    const before = changes[at - 1]?.shows;
    return shows !== undefined && before !== undefined && shows.words.length < before.words.length;
  });
}

/** Whether a picture came or went, so that a card was posted again. */
function isReposted(changes: readonly CardChange[]): boolean {
  return changes.some(({ shows }, at) => {
    const before = changes[at - 1]?.shows;
    return (
      shows !== undefined &&
      before !== undefined &&
      (shows.picture === undefined) !== (before.picture === undefined)
    );
  });
}

function faceOf({ buttons, image, numbered, text }: CardBody): CardFace {
  const [, token = "", number] = CARD_WORD.exec(text) ?? [];
  const version = Number(number);
  return {
    version,
    picture: image === undefined ? undefined : (pictureOf(token, version)?.name ?? "another picture"),
    // Numbered options stand below the text.
    words: [...wordsOf(text), ...(numbered === true ? callbacksOf(buttons) : [])],
    labels: labelsOf(buttons),
    tokens: (buttons ?? []).flat().flatMap((button) => (button.kind === "callback" ? button.token : [])),
  };
}

function callbacksOf(buttons: CardBody["buttons"]): string[] {
  return (buttons ?? []).flat().flatMap(({ kind, label }) => (kind === "callback" ? label : []));
}

export function labelsOf(buttons: OutgoingContent["buttons"]): string[] {
  return (buttons ?? []).flat().map(({ label }) => label);
}

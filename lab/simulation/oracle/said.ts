import type { Delivery, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import type { Invariant, SaidReply } from "./contract.ts";
import { STOPPED } from "./contract.ts";
import { InterruptedText } from "./interrupted-text.ts";
import type { Life } from "../machine/life.ts";
import type { PlatformKind } from "../plan/plan.ts";

type Watched = Pick<Delivery, "open" | "append" | "replace" | "interrupt" | "finish" | "send">;

export interface SaidOptions {
  readonly now: () => number;
  readonly platform: PlatformKind;
  readonly fail: (invariant: Invariant, message: string) => void;
  /** The object that handles a thread. */
  readonly conversationOf: (threadId: string) => string;
  /** Called when a conversation gives text, or its end, to its delivery. */
  readonly onText: (conversation: string, address: Pick<Address, "chatId">) => void;
}

/** Counts that prove that these cases occur. */
export interface SaidFigures {
  /** Replies that took over the visible messages of another one. */
  takeovers: number;
  /** Attempts that were cut short when some of their text was visible. */
  held: number;
  /** Replies that were stopped when some of their text was visible. */
  stopped: number;
  /** Notices that were said while a reply was streaming. */
  beside: number;
}

/** Listens to all deliveries, and knows everything that conversations have said, with the thread. */
export class Said {
  readonly figures: SaidFigures = { takeovers: 0, held: 0, stopped: 0, beside: 0 };
  readonly replies = new Map<string, SaidReply>();
  /** The newest delivery of each conversation, with its process. */
  readonly deliveries = new Map<
    string,
    { readonly delivery: Delivery; readonly life: Pick<Life, "isDead"> }
  >();
  readonly #options: SaidOptions;

  constructor(options: SaidOptions) {
    this.#options = options;
  }

  delivery(conversation: string): Delivery | undefined {
    return this.deliveries.get(conversation)?.delivery;
  }

  reply(threadId: string, id: string): SaidReply | undefined {
    return this.replies.get(keyOf(this.#options.conversationOf(threadId), id));
  }

  /** Whether a reply takes over an earlier one, or one that took it over. */
  replaces(threadId: string, id: string, earlierId: string): boolean {
    const { takesOver } = this.reply(threadId, id) ?? {};
    return (
      takesOver !== undefined && (takesOver === earlierId || this.replaces(threadId, takesOver, earlierId))
    );
  }

  /** Listens to a delivery. Call it before the delivery is used. Calls of a killed process are ignored. */
  watch(conversation: string, delivery: Delivery, life: Pick<Life, "isDead">): void {
    this.deliveries.set(conversation, { delivery, life });
    // A new process must say text again that was only streamed.
    for (const reply of this.replies.values()) {
      if (reply.conversation !== conversation) continue;
      const state = delivery.receipt(reply.id)?.state;
      if (state !== undefined && state !== "streaming") continue;
      reply.text = "";
      reply.isFinal = false;
      reply.interrupted.restarted();
    }
    const real: Watched = {
      open: delivery.open.bind(delivery),
      append: delivery.append.bind(delivery),
      replace: delivery.replace.bind(delivery),
      interrupt: delivery.interrupt.bind(delivery),
      finish: delivery.finish.bind(delivery),
      send: delivery.send.bind(delivery),
    };
    const known = (id: string): SaidReply | undefined => this.replies.get(keyOf(conversation, id));
    const isSeen = (id: string): boolean =>
      delivery.receipt(id)?.messages.some(({ state }) => state === "sent") === true;
    const change = (id: string, text: (before: string) => string): void => {
      const reply = known(id);
      if (reply === undefined || reply.isFinal) return;
      reply.text = text(reply.text);
      this.#options.onText(conversation, reply);
    };
    const say = (id: string, text: (before: string) => string): void => {
      change(id, text);
      const reply = known(id);
      reply?.interrupted.said(reply.text);
    };
    const end = (reply: SaidReply): void => {
      if (!reply.isFinal) reply.finalAt = this.#options.now();
      reply.isFinal = true;
    };
    Object.assign(delivery, {
      open: (start: ReplyStart) => {
        if (life.isDead) return real.open(start);
        if (start.takesOver !== undefined && known(start.id) === undefined && isSeen(start.takesOver)) {
          this.figures.takeovers += 1;
        }
        this.#said(conversation, start, false);
        this.#options.onText(conversation, start.address);
        real.open(start);
      },
      append: (id: string, delta: string) => {
        if (!life.isDead) say(id, (before) => before + delta);
        real.append(id, delta);
      },
      replace: (id: string, text: string) => {
        if (!life.isDead) say(id, () => text);
        real.replace(id, text);
      },
      interrupt: (id: string) => {
        if (life.isDead) return real.interrupt(id);
        const reply = known(id);
        // Messages that cannot be changed stay anyway.
        if (reply === undefined || reply.isFinal || this.#options.platform === "fixed") {
          return real.interrupt(id);
        }
        if (reply.text !== "" && isSeen(id)) this.figures.held += 1;
        reply.interrupted.begin(reply.text);
        reply.text = "";
        real.interrupt(id);
        reply.interrupted.done();
      },
      finish: (id: string, text: string) => {
        if (life.isDead) return real.finish(id, text);
        if (text.includes(STOPPED) && isSeen(id)) this.figures.stopped += 1;
        change(id, () => text);
        real.finish(id, text);
        const reply = known(id);
        if (reply !== undefined) end(reply);
      },
      send: (start: ReplyStart, text: string) => {
        // A notice whose event is handled again is stored already, with the words of the first time.
        if (life.isDead || delivery.receipt(start.id) !== undefined) return real.send(start, text);
        if (known(start.id) === undefined && this.#isStreaming(start.address.threadId)) {
          this.figures.beside += 1;
        }
        const reply = this.#said(conversation, start, true);
        this.#options.onText(conversation, start.address);
        reply.text = text;
        end(reply);
        real.send(start, text);
      },
    } satisfies Watched);
  }

  #said(conversation: string, { id, address, takesOver }: ReplyStart, isNotice: boolean): SaidReply {
    const { threadId, chatId } = address;
    const known = this.replies.get(keyOf(conversation, id));
    if (known !== undefined && known.threadId !== threadId) {
      this.#options.fail("I11", `${id} of ${conversation} moves from ${known.threadId} to ${threadId}`);
    }
    if (known !== undefined) return known;
    const order = this.replies.size;
    const where = { conversation, threadId, chatId };
    const reply: SaidReply = {
      id,
      ...where,
      isNotice,
      takesOver,
      order,
      text: "",
      interrupted: new InterruptedText(),
      isFinal: false,
      finalAt: Infinity,
    };
    this.replies.set(keyOf(conversation, id), reply);
    return reply;
  }

  #isStreaming(threadId: string): boolean {
    for (const reply of this.replies.values()) {
      if (reply.threadId === threadId && !reply.isFinal && reply.text !== "") return true;
    }
    return false;
  }
}

/** Returns a key for a reply, whose id is unique only in its conversation. */
function keyOf(conversation: string, replyId: string): string {
  return `${conversation}|${replyId}`;
}

import type { Database } from "../../src/core/store/database.ts";
import type { DeliveryReceipt } from "../../src/core/chat/delivery.ts";
import { InvalidInputError } from "../../src/core/base/errors.ts";
import type { ChatKey } from "../../src/core/chat/gate.ts";
import type { MarkStart, MarkState } from "../../src/core/chat/mark.ts";
import { placeFields } from "../../src/core/chat/log-fields.ts";
import type { Address, CallFailure, CallOptions, Surface } from "../../src/core/chat/surface.ts";
import { backoffMs, CALL_RULES } from "../calls/call-policy.ts";
import { callWithin } from "../calls/call-within.ts";
import { failureOf, GATE_TIMEOUT_MS, logFailure, penalize } from "../calls/delivery-context.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { ChatMoves } from "../lane/chat-moves.ts";
import type { DurableWake, WakeSource } from "../lane/durable-wake.ts";
import type { WakeNeed } from "../lane/lane.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { ReplyStore } from "../outbox/reply-store.ts";
import { MarkStore } from "./mark-store.ts";
import type { MarkRow } from "./mark-store.ts";

export interface MarksOptions {
  readonly database: Database;
  readonly replies: Pick<ReplyStore, "goneCode">;
  readonly moves: Pick<ChatMoves, "currentAddress">;
  readonly context: Omit<DeliveryContext, "replies">;
  readonly wake: DurableWake;
}

/** A reaction that comes later than this has lost its meaning. */
const GIVE_UP_AFTER_MS = 60 * 60 * 1000;

/** Longer waits are left to the durable wake-up. */
const SHORT_WAIT_MS = 5_000;

/** The marks of one chat, which are sent one after the other. */
interface Queue {
  readonly chat: ChatKey;
  working: Promise<void> | undefined;
  waitUntil: number;
  failures: number;
  /** True if a mark has arrived since the last look at the rows. */
  isDirty: boolean;
  timer: unknown;
}

/**
 * Reactions and pins: calls that change a message and post none.
 *
 * 1. A mark is stored before it is sent, and its start before each call. The chat's gate grants every call (I7, I8).
 * 2. It is tried again after refusals and lost answers, for an hour at most. That does no harm, because it says how the
 *    message shall be. An `unpin` without a message is different: it is not repeated once its outcome is unknown.
 * 3. The marks of a chat keep their order. They hold up no message, and no message holds them up.
 * 4. A refusal ends the mark alone, never the chat: a bot without the right to pin can still write.
 */
export class Marks implements WakeSource {
  readonly #options: MarksOptions;
  readonly #store: MarkStore;
  readonly #queues = new Map<string, Queue>();

  constructor(options: MarksOptions) {
    this.#options = options;
    this.#store = new MarkStore(options.database);
    for (const chat of this.#store.chats()) this.#queue(chat);
  }

  /** Stores a mark, and sends it in the background. Throws if the platform has no such thing. */
  add({ address: meant, id, mark }: MarkStart): void {
    if (this.#store.read(id) !== undefined) return;
    const { database, moves, replies } = this.#options;
    const { deps, surfaces } = this.#options.context;
    const address = moves.currentAddress(meant);
    checkSupport(surfaces.of(address.messengerId), mark);
    const now = deps.clock.now();
    const code = replies.goneCode(address);
    const row = { id, address, mark, createdAt: now };
    if (code !== undefined) {
      this.#store.insert({ ...row, state: "gone", code });
      return;
    }
    database.transaction(() => {
      for (const earlier of this.#store.open(address))
        if (mark.kind === "reaction" && isReplaced(earlier, mark.messageId))
          this.#store.end(earlier.id, "withdrawn", undefined, now);
      this.#store.insert({ ...row, state: "final" });
    });
    this.#poke(this.#queue(address));
    this.#options.wake.update();
  }

  /** Sends whatever is due. Resolves when nothing can be done at this moment. */
  async run(): Promise<void> {
    const now = this.#options.context.deps.clock.now();
    const queues = [...this.#queues.values()];
    for (const queue of queues) if (queue.waitUntil <= now) this.#poke(queue);
    await Promise.all(queues.flatMap(({ working }) => working ?? []));
  }

  wakeNeeds(): WakeNeed[] {
    return [...this.#queues.values()].map(({ timer, waitUntil, working }) =>
      working !== undefined || timer !== undefined || waitUntil === 0
        ? { kind: "soon" }
        : { kind: "at", at: waitUntil },
    );
  }

  receipt(id: string): DeliveryReceipt | undefined {
    const row = this.#store.read(id);
    if (row === undefined) return undefined;
    const { address, code, createdAt, endedAt, state } = row;
    const { messengerId, threadId } = address;
    return {
      replyId: id,
      messengerId,
      threadId,
      state,
      ...(code !== undefined && { code }),
      createdAt,
      ...(endedAt !== undefined && { endedAt }),
      messages: [],
    };
  }

  #queue(chat: ChatKey): Queue {
    const { chatId, messengerId } = chat;
    const key = keyOf(chat);
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue: Queue = {
      chat: { messengerId, chatId },
      working: undefined,
      waitUntil: 0,
      failures: 0,
      isDirty: false,
      timer: undefined,
    };
    this.#queues.set(key, queue);
    return queue;
  }

  #poke(queue: Queue): void {
    queue.isDirty = true;
    if (queue.working !== undefined) return;
    this.#options.context.deps.clock.clearTimeout(queue.timer);
    queue.timer = undefined;
    queue.working = this.#work(queue);
  }

  async #work(queue: Queue): Promise<void> {
    const { clock, random } = this.#options.context.deps;
    // The caller is told first that the mark is stored.
    await Promise.resolve();
    try {
      while (queue.isDirty) {
        queue.isDirty = false;
        queue.waitUntil = await this.#sendAll(queue);
      }
      queue.failures = 0;
    } catch {
      // The storage failed, or the gate cannot be reached. Everything follows from the rows.
      queue.failures += 1;
      queue.waitUntil = clock.now() + backoffMs(queue.failures, random());
    }
    queue.working = undefined;
    const delayMs = Math.max(0, queue.waitUntil - clock.now());
    if (delayMs === Infinity) this.#queues.delete(keyOf(queue.chat));
    else if (delayMs <= SHORT_WAIT_MS) queue.timer = clock.setTimeout(() => this.#poke(queue), delayMs);
    this.#options.wake.update();
  }

  /** Returns the time of the next try, `Infinity` if nothing is left. */
  async #sendAll({ chat }: Queue): Promise<number> {
    for (;;) {
      const [row] = this.#store.open(chat);
      if (row === undefined) return Infinity;
      const waitUntil = await this.#send(row);
      if (waitUntil !== undefined) return waitUntil;
    }
  }

  /** Makes the call of a mark. Returns the time of its next try, `undefined` if it has ended. */
  async #send(row: MarkRow): Promise<number | undefined> {
    const context = this.#options.context;
    const { access, budget, deps } = context;
    const { address, createdAt, id, isCalling, retryAt = 0 } = row;
    const now = deps.clock.now();
    if (retryAt > now) return retryAt;
    if (now - createdAt > GIVE_UP_AFTER_MS) return this.#end(row, "failed", row.code ?? "too-late");
    if (isCalling && !isRepeatable(row)) return this.#end(row, "failed", "outcome-unknown");
    // The ids of its messages stayed behind.
    if (this.#options.moves.currentAddress(address) !== address)
      return this.#end(row, "failed", "chat-moved");
    const surface = this.#surface(address);
    if (surface === undefined) return this.#end(row, "failed", "unknown-messenger");
    const answer = await callWithin(deps.clock, GATE_TIMEOUT_MS, () =>
      budget.acquire(address, "post", surface),
    );
    if (answer.kind !== "done") throw new Error("The gate of the chat did not answer.");
    if (answer.value.kind === "wait") return Math.max(answer.value.retryAt, deps.clock.now() + 1);
    this.#store.beginCall(id);
    const outcome = await callWithin(deps.clock, callTimeoutMs({}, surface), (signal) =>
      perform(surface, row, { signal }),
    );
    if (outcome.kind === "done") {
      access.works(address);
      return this.#end(row, "delivered", undefined);
    }
    return this.#failed(row, failureOf(surface, outcome));
  }

  async #failed(row: MarkRow, failure: CallFailure): Promise<number | undefined> {
    const context = this.#options.context;
    const { access, deps } = context;
    const { address, createdAt, id } = row;
    logFailure(context, { method: "mark", address, replyId: id, attempts: 1 }, failure);
    const retry = (delayMs: number): number => {
      const at = deps.clock.now() + delayMs;
      this.#store.retry(id, failure.code, at);
      return at;
    };
    const restMs = backoffMs(Math.log2(1 + (deps.clock.now() - createdAt) / 500), deps.random());
    const rule = CALL_RULES.mark[failure.kind];
    switch (rule) {
      case "done":
        return this.#end(row, "delivered", undefined);
      case "wait": {
        const delayMs = failure.kind === "retry-after" ? failure.retryAfterMs : 0;
        const at = retry(delayMs);
        await penalize(context, address, failure);
        return at;
      }
      case "retry":
        if (failure.kind === "unknown" && !isRepeatable(row))
          return this.#end(row, "failed", "outcome-unknown");
        return retry(restMs);
      case "retry-slowly":
        access.refused(address, failure.code);
        return retry(4 * restMs);
      case "refuse":
        return this.#end(row, "failed", failure.code);
      default:
        return rule satisfies never;
    }
  }

  #end(row: MarkRow, state: MarkState, code: string | undefined): undefined {
    const { deps, log } = this.#options.context;
    this.#store.end(row.id, state, code, deps.clock.now());
    if (state === "failed")
      log.warn("mark.failed", { ...placeFields(row.address), kind: row.mark.kind, code });
    return undefined;
  }

  #surface({ messengerId }: Address): Surface | undefined {
    try {
      return this.#options.context.surfaces.of(messengerId);
    } catch {
      // The messenger is not declared any more.
      return undefined;
    }
  }
}

function keyOf({ chatId, messengerId }: ChatKey): string {
  return JSON.stringify([messengerId, chatId]);
}

/** A mark whose call is under way is not replaced: its end is not known yet. */
function isReplaced({ isCalling, mark }: MarkRow, messageId: string): boolean {
  return mark.kind === "reaction" && mark.messageId === messageId && !isCalling;
}

function isRepeatable({ mark }: MarkRow): boolean {
  return mark.kind !== "unpin" || mark.messageId !== undefined;
}

function checkSupport({ pin, provider, react }: Surface, { kind }: MarkStart["mark"]): void {
  if (kind === "reaction") {
    if (react === undefined)
      throw new InvalidInputError(
        "reactions-unsupported",
        `The bot cannot react to messages on ${provider}. Send a message instead.`,
      );
  } else if (pin === undefined)
    throw new InvalidInputError("pins-unsupported", `The bot cannot pin messages on ${provider}.`);
}

async function perform(surface: Surface, { address, mark }: MarkRow, options: CallOptions): Promise<void> {
  if (mark.kind === "reaction") await surface.react?.(address, mark.messageId, mark.emoji, options);
  else {
    const isPinned = mark.kind === "pin";
    await surface.pin?.(address, mark.messageId, { isPinned, silent: true }, options);
  }
}

import type { Update } from "grammy/types";
import type { Clock } from "../clock.ts";

export type UpdateKind = Exclude<keyof Update, "update_id">;

/** One attempt to deliver an update. `status` is the HTTP status; `error` is the reason if there is none. */
export interface UpdateAttempt {
  readonly at: number;
  readonly status?: number;
  readonly error?: string;
  readonly durationMs: number;
}

export interface UpdateRecord {
  readonly id: number;
  readonly kind: string;
  readonly chatId?: number;
  readonly update: Update;
  readonly createdAt: number;
  /** Updates of one lane are delivered one after the other. */
  readonly lane: string;
  readonly attempts: UpdateAttempt[];
  state: "pending" | "delivered" | "given-up";
}

/** Kinds that a bot gets only if it asks for them with `allowed_updates`. */
const onlyOnRequest: ReadonlySet<string> = new Set([
  "chat_member",
  "message_reaction",
  "message_reaction_count",
]);

/** Time that Telegram keeps an undelivered update: a day, or 150 seconds for a press. */
const lifetimeMs = 86_400_000;
const callbackLifetimeMs = 150_000;

/** The bot's updates: numbered, filtered by the bot's choice, and kept until they are delivered or too old. */
export class Updates {
  readonly records: UpdateRecord[] = [];
  readonly pending = new Map<number, UpdateRecord>();
  allowed: readonly string[] | undefined;
  onChange: () => void = () => undefined;
  /** Called with each new update. */
  onAdded: (record: UpdateRecord) => void = () => undefined;
  readonly #clock: Clock;
  nextId: number;

  constructor(clock: Clock, firstId: number) {
    this.#clock = clock;
    this.nextId = firstId;
  }

  add(
    kind: UpdateKind,
    payload: object,
    target: { readonly chatId?: number; readonly lane: string },
  ): UpdateRecord | undefined {
    const wanted = this.allowed?.length ? this.allowed.includes(kind) : !onlyOnRequest.has(kind);
    if (!wanted) return undefined;
    return this.addRaw({ [kind]: payload }, target);
  }

  /** Adds any update unchanged. A missing `update_id` is added. */
  addRaw(update: object, target: { readonly chatId?: number; readonly lane: string }): UpdateRecord {
    const id = "update_id" in update && typeof update.update_id === "number" ? update.update_id : this.nextId;
    this.nextId = Math.max(this.nextId, id + 1);
    const record: UpdateRecord = {
      id,
      kind: Object.keys(update).find((key) => key !== "update_id") ?? "unknown",
      ...(target.chatId !== undefined && { chatId: target.chatId }),
      update: { update_id: id, ...update },
      createdAt: this.#clock.now(),
      lane: target.lane,
      attempts: [],
      state: "pending",
    };
    this.records.push(record);
    this.pending.set(id, record);
    this.onChange();
    this.onAdded(record);
    return record;
  }

  attempted(record: UpdateRecord, attempt: UpdateAttempt): void {
    record.attempts.push(attempt);
    this.onChange();
  }

  settle(record: UpdateRecord, state: "delivered" | "given-up"): void {
    record.state = state;
    this.pending.delete(record.id);
    this.onChange();
  }

  isExpired(record: UpdateRecord, atMs: number): boolean {
    return atMs - record.createdAt > (record.kind === "callback_query" ? callbackLifetimeMs : lifetimeMs);
  }

  dropPending(): void {
    for (const record of this.pending.values()) this.settle(record, "given-up");
  }
}

import type {
  Broadcast,
  BroadcastReceiptFilter,
  BroadcastReceiptPage,
  BroadcastWork,
  NewBroadcast,
  TargetState,
} from "../core/turn/broadcast.ts";
import { createHash } from "node:crypto";
import { checkContent } from "../core/message/check-content.ts";
import { wait } from "../core/base/deps.ts";
import type { Deps } from "../core/base/deps.ts";
import { failureCode, InvalidInputError, SwitchboardError } from "../core/base/errors.ts";
import type { BroadcastStore } from "./broadcast-store.ts";
import { sumOf } from "./stored-broadcast.ts";
import type { StoredBroadcast } from "./stored-broadcast.ts";
import { collectTargets } from "./collect-targets.ts";
import type { TargetSources } from "./collect-targets.ts";
import { runSlice } from "./run-slice.ts";
import { MOST_OPEN } from "../core/turn/broadcast.ts";
import type { SliceOptions } from "./run-slice.ts";
import type { SubscriberStore } from "./subscriber-store.ts";

export interface BroadcastsOptions
  extends Omit<SliceOptions, "clock">, Omit<TargetSources, "pause" | "store"> {
  readonly deps: Pick<Deps, "clock" | "newId">;
  readonly store: BroadcastStore;
  readonly subscribers: SubscriberStore;
  /** Asks for a call of `run` at this time (epoch milliseconds), also after a crash. Replaces the time before. */
  readonly wakeAt: (at: number | undefined) => void;
  /** Called when outcomes of a broadcast may be known, and when it has ended. Not called again after a crash. */
  readonly onProgress?: (work: BroadcastWork) => void;
}

const EXPIRES_AFTER_MS = 3 * 24 * 60 * 60_000;
const LONGEST_MS = 14 * 24 * 60 * 60_000;
const MOST_NAME = 200;
const MOST_LISTED = 1000;
/** While a slice runs, the alarm stands this far ahead, so that it continues after a crash. */
const HEARTBEAT_MS = 45_000;
/** Ended broadcasts and their receipts are kept this long, and deleted this many rows at a time. */
const KEEP_MS = 30 * 24 * 60 * 60_000;
const SWEEP_ROWS = 2_000;
const AFTER_FAILURE_MS = 30_000;

/**
 * Messages to many chats, at the root. It decides which chat is next, and when. The object of each conversation sends
 * the message from its own outbox, where receipts, retries and lost posts are handled as for any other message.
 *
 * 1. All targets are stored before the first message is sent. A call that was cut by a crash before that has sent
 *    nothing; the same call again continues it.
 * 2. Each run of the alarm hands over one slice, at most 200 targets, and sets the next alarm.
 * 3. Nobody gets a message twice, and nobody is left out: see `runSlice`.
 * 4. Several broadcasts take turns, slice by slice.
 */
export class Broadcasts {
  readonly #options: BroadcastsOptions;
  /** Calls of `start` that are collecting targets, by id. */
  readonly #starting = new Map<string, Promise<Broadcast>>();
  #running: Promise<void> | undefined;
  /** Targets about which something has changed while a slice runs. The slice may store an older answer over it. */
  #nudged: { readonly id: string; readonly target: string }[] = [];

  constructor(options: BroadcastsOptions) {
    this.#options = options;
  }

  /**
   * Stores a broadcast with its targets. Resolves when it is durable and will be sent, without waiting for that.
   *
   * @throws {InvalidInputError} `broadcast-invalid`, or a code of `checkContent`
   * @throws {SwitchboardError} `broadcast-conflict` if the id belongs to a broadcast with other content or targets
   */
  async start(request: NewBroadcast): Promise<Broadcast> {
    checkRequest(request);
    const id = request.id ?? this.#options.deps.newId();
    const earlier = this.#starting.get(id);
    if (earlier !== undefined) await earlier.catch(() => undefined);
    const start = this.#start({ ...request, id }).finally(() => this.#starting.delete(id));
    this.#starting.set(id, start);
    return start;
  }

  async #start({
    expiresAfterMs = EXPIRES_AFTER_MS,
    id,
    isKnownById = false,
    targets,
    work,
  }: NewBroadcast & { id: string }): Promise<Broadcast> {
    const { deps, store } = this.#options;
    const named = typeof targets === "function" ? "function" : targets;
    const hash = createHash("sha256")
      .update(JSON.stringify(isKnownById ? id : [work, named]))
      .digest("hex");
    const createdAt = deps.clock.now();
    const known =
      store.get(id) ??
      store.insert({
        id,
        hash,
        work,
        isSubscribed: targets === "subscribers",
        createdAt,
        expiresAt: createdAt + expiresAfterMs,
      });
    if (known.hash !== hash)
      throw new SwitchboardError(
        "broadcast-conflict",
        "An earlier broadcast with this key had another content or other targets. Use a new key.",
      );
    if (known.state === "collecting") {
      const pause = (): Promise<void> => wait(deps.clock, 0);
      // A list may be another one than that of the call that was cut. Targets that it has stored stay as they are.
      const isNewList = isKnownById && targets !== "subscribers";
      const { cursor, seq } = known;
      const from = { seq, cursor: isNewList ? undefined : cursor };
      await collectTargets({ ...this.#options, store, pause }, from, targets);
      if (store.get(id)?.state === "collecting") store.setState(known.seq, "running");
    }
    // A known one may come from a process that died before it could set the alarm.
    if (known.endedAt === undefined) this.#wakeSoon();
    return this.#progressOf(store.get(id) ?? known);
  }

  get(id: string): Broadcast | undefined {
    const found = this.#options.store.get(id);
    return found && this.#progressOf(found);
  }

  /** Returns broadcasts, newest first. */
  list(limit: number): Broadcast[] {
    return this.#options.store.list(Math.min(limit, MOST_LISTED)).map((found) => this.#progressOf(found));
  }

  /** Returns a page of the outcomes of a broadcast. */
  receipts(id: string, { limit = 100, ...filter }: BroadcastReceiptFilter): BroadcastReceiptPage {
    const { store } = this.#options;
    const found = store.get(id);
    if (found === undefined) return { receipts: [] };
    const page = Math.min(limit, MOST_LISTED);
    const targets = store.targets(found.seq, { ...filter, limit: page + 1 });
    const shown = targets.slice(0, page);
    const last = targets.length > page ? shown.at(-1) : undefined;
    return {
      receipts: shown.map(({ address, code, conversation, deliveryId, messageIds, state, tries }) => ({
        state: shownState(state, tries, found.endedAt !== undefined),
        messageIds,
        ...(address !== undefined && { address }),
        ...(conversation !== undefined && { conversation }),
        ...(deliveryId !== undefined && { deliveryId }),
        ...(code !== undefined && { code }),
        ...(state === "waiting" && found.endedAt !== undefined && { code: found.closing ?? "cancelled" }),
      })),
      ...(last !== undefined && { cursor: last.key }),
    };
  }

  /**
   * Ends a broadcast: no further message begins. Messages that conversations have already, at most 400, still arrive.
   * Returns `false` if it has ended already, or does not exist.
   */
  cancel(id: string): boolean {
    const { store } = this.#options;
    const found = store.get(id);
    if (found === undefined || (found.state !== "running" && found.state !== "collecting")) return false;
    store.setState(found.seq, "closing", "cancelled");
    this.#wakeSoon();
    return true;
  }

  /** Asks for the outcome of one target soon, because something about it has changed in its conversation. */
  nudge(id: string, target: string): void {
    this.#options.store.askSoon(id, target, this.#options.deps.clock.now());
    if (this.#running !== undefined) this.#nudged.push({ id, target });
    if (this.hasWork()) this.#wakeSoon();
  }

  /** Whether `run` has something to do, now or later. */
  hasWork(): boolean {
    return this.#options.store.unfinished().length > 0;
  }

  /** Runs one slice of the broadcast that has waited longest. Never rejects; a failure is tried again later. */
  run(): Promise<void> {
    // The alarm that has just fired may have replaced the one of the running slice.
    if (this.#running !== undefined) this.#options.wakeAt(this.#options.deps.clock.now() + HEARTBEAT_MS);
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runOnce(): Promise<void> {
    const { deps, log, store, wakeAt } = this.#options;
    const { clock } = deps;
    try {
      const next = store.unfinished().find((broadcast) => this.#nextAt(broadcast) <= clock.now());
      if (next !== undefined) {
        wakeAt(clock.now() + HEARTBEAT_MS);
        await this.#advance(next);
      }
      store.sweep(clock.now() - KEEP_MS, SWEEP_ROWS);
      const nextAt = Math.min(...store.unfinished().map((broadcast) => this.#nextAt(broadcast)));
      wakeAt(nextAt === Infinity ? undefined : Math.max(nextAt, clock.now()));
    } catch (error) {
      log.error("broadcast.failed", { code: failureCode(error) });
      wakeAt(clock.now() + AFTER_FAILURE_MS);
    }
  }

  async #advance(broadcast: StoredBroadcast): Promise<void> {
    const { deps, store } = this.#options;
    const now = deps.clock.now();
    if (broadcast.state === "running" && now >= broadcast.expiresAt) {
      const { seq } = broadcast;
      const isLeft = store.waiting(seq, 1).length > 0 || store.quiet(seq).count > 0;
      if (isLeft) store.setState(broadcast.seq, "closing", "expired");
    }
    const current = store.get(broadcast.id) ?? broadcast;
    await runSlice({ ...this.#options, clock: deps.clock }, current);
    for (const { id, target } of this.#nudged) store.askSoon(id, target, deps.clock.now());
    this.#nudged = [];
    this.#endIfDone(broadcast.id);
    if (broadcast.work !== undefined) this.#options.onProgress?.(broadcast.work);
  }

  #progressOf(stored: StoredBroadcast): Broadcast {
    if (stored.endedAt !== undefined) return progressOf(stored);
    const { store } = this.#options;
    const deciding = store.deciding(stored.seq);
    const quiet = store.quiet(stored.seq).count;
    return { ...progressOf(stored), ...(deciding > 0 && { deciding }), ...(quiet > 0 && { quiet }) };
  }

  #endIfDone(id: string): void {
    const { deps, log, store } = this.#options;
    const current = store.get(id);
    if (current === undefined) return;
    const { closing, isChecked, seq, state } = current;
    if (store.open(seq).count > 0 || store.quiet(seq).count > 0) return;
    const isOver = state === "closing" ? isChecked : store.waiting(seq, 1).length === 0;
    if (!isOver) return;
    store.end(seq, closing ?? "done", deps.clock.now(), closing);
    const { failed, sent, skipped, total } = progressOf(store.get(id) ?? current);
    log.info("broadcast.ended", { broadcast: id, state: closing ?? "done", total, sent, failed, skipped });
  }

  /**
   * Returns when a broadcast has work: now, if targets wait, else when the next outcome is due or the first quiet hours
   * end.
   */
  #nextAt({ isChecked, seq, state }: StoredBroadcast): number {
    const { store } = this.#options;
    const open = store.open(seq);
    const quiet = store.quiet(seq);
    const isClosing = state === "closing";
    const isRoom = open.count < MOST_OPEN;
    const isWorkLeft = isClosing ? !isChecked || quiet.count > 0 : isRoom && store.waiting(seq, 1).length > 0;
    if (isWorkLeft || (open.count === 0 && quiet.count === 0)) return 0;
    return Math.min(open.nextAt ?? Infinity, isRoom ? (quiet.nextAt ?? Infinity) : Infinity);
  }

  #wakeSoon(): void {
    this.#options.wakeAt(this.#options.deps.clock.now());
  }
}

function progressOf(stored: StoredBroadcast): Broadcast {
  const { createdAt, endedAt, failures, id, sent, skips, state, total, usage } = stored;
  const failed = sumOf(failures);
  const skipped = sumOf(skips);
  const waiting = total - sent - failed - skipped;
  const ended = endedAt === undefined ? {} : { endedAt };
  const counts = { total, waiting, sent, failed, skipped, failures, skips };
  return { id, state, ...counts, ...(usage !== undefined && { usage }), createdAt, ...ended };
}

/** A chat in its quiet hours does not have the message yet. */
function shownState(state: TargetState, tries: number, isOver: boolean): TargetState {
  if (state === "waiting" && isOver) return "skipped";
  return state === "open" && tries === 0 ? "waiting" : state;
}

function checkRequest({ expiresAfterMs, id, targets, work }: NewBroadcast): void {
  if (id !== undefined && (typeof id !== "string" || id === "" || id.length > MOST_NAME))
    throw invalid(`the key must be a text of 1 to ${MOST_NAME} characters`);
  if (expiresAfterMs !== undefined && !(expiresAfterMs > 0 && expiresAfterMs <= LONGEST_MS))
    throw invalid("expiresAfterMs must be a number above 0, and at most 14 days");
  if (targets === undefined || targets === null)
    throw invalid('its targets must be "subscribers", a target, a list of targets, or a function');
  if (work.kind === "prompt") return;
  const content = checkContent(work.content);
  const sources: readonly unknown[] =
    content.kind === "files"
      ? content.files.map(({ source }) => source)
      : content.kind === "card" && content.image !== undefined
        ? [content.image]
        : [];
  const isStored = sources.every(isRemote);
  if (!isStored)
    throw invalid(
      "its files and pictures must have a fileId or a url. Send the file to one chat first, and use its fileId",
    );
}

function isRemote(source: unknown): boolean {
  return typeof source === "object" && source !== null && ("fileId" in source || "url" in source);
}

function invalid(why: string): InvalidInputError {
  return new InvalidInputError("broadcast-invalid", `The broadcast cannot be sent: ${why}.`);
}

import type { Placeholder } from "../../src/core/message/placeholder.ts";
import type { DurableWake, WakeSource } from "./durable-wake.ts";
import type { WakeNeed } from "./lane.ts";
import type { KeptPlaceholder } from "../outbox/placeholder-store.ts";
import type { Reply } from "../outbox/reply.ts";
import { callWithin } from "../calls/call-within.ts";
import { failureOf } from "../calls/delivery-context.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";

const CALL_TIMEOUT_MS = 5_000;
const SHORTEST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

export interface UnfilledPlaceholdersOptions {
  readonly context: Pick<DeliveryContext, "deps" | "log" | "placeholders" | "surfaces">;
  /** The replies in memory, by id. */
  readonly replies: ReadonlyMap<string, Reply>;
  readonly isEventOpen: (seq: number) => boolean;
  readonly wake: DurableWake;
}

/**
 * Removes placeholders whose event has ended without a reply that will replace them.
 *
 * 1. A row stays until its placeholder is gone. So the next process goes on with a removal, which can be repeated.
 * 2. A placeholder is given up before it is removed. From then on no reply takes it: the removal would take the reply.
 */
export class UnfilledPlaceholders implements WakeSource {
  readonly #options: UnfilledPlaceholdersOptions;
  /** Failed removals are tried again then. Undefined if there are no placeholders. */
  #lookAt: number | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: UnfilledPlaceholdersOptions) {
    this.#options = options;
    const { deps, placeholders } = options.context;
    if (placeholders.all().length > 0) this.#lookAt = deps.clock.now();
  }

  /** @param eventSeq the event that shows the placeholder */
  expect(messengerId: string, placeholder: Placeholder, eventSeq: number): void {
    const { context, wake } = this.#options;
    context.placeholders.keep(messengerId, placeholder, eventSeq);
    this.#lookAt = context.deps.clock.now() + SHORTEST_REST_MS;
    wake.update();
  }

  wakeNeeds(): WakeNeed[] {
    return this.#lookAt === undefined ? [] : [{ kind: "at", at: this.#lookAt }];
  }

  async run(): Promise<void> {
    if (this.#lookAt === undefined) return;
    this.#looking ??= this.#look(this.#lookAt).finally(() => (this.#looking = undefined));
    await this.#looking;
    this.#options.wake.update();
  }

  async #look(dueAt: number): Promise<void> {
    const { deps, placeholders } = this.#options.context;
    const startedAt = deps.clock.now();
    let restMs = 0;
    for (const row of placeholders.all()) {
      if (row.isGivenUp === true ? startedAt < dueAt : this.#isExpected(row)) continue;
      placeholders.giveUp(row.messengerId, row.messageId);
      restMs = Math.max(restMs, await this.#remove(row));
    }
    const now = deps.clock.now();
    // The longer a placeholder is shown, the more seldom it is looked at.
    const halves = placeholders.all().map(({ shownAt }) => (now - shownAt) / 2);
    const nextMs = Math.max(restMs, SHORTEST_REST_MS, Math.min(...halves, LONGEST_REST_MS));
    if (halves.length === 0) this.#lookAt = undefined;
    else if (startedAt >= dueAt || restMs > 0) this.#lookAt = now + nextMs;
  }

  #isExpected({ eventSeq, messageId, messengerId }: KeptPlaceholder): boolean {
    const { isEventOpen, replies } = this.#options;
    if (eventSeq === undefined || isEventOpen(eventSeq)) return true;
    return [...replies.values()].some(
      ({ isOpen, record: { address, seenMessageId } }) =>
        isOpen && seenMessageId === messageId && address.messengerId === messengerId,
    );
  }

  /** Returns how long to wait before the next call. */
  async #remove(row: KeptPlaceholder): Promise<number> {
    const { deps, log, placeholders, surfaces } = this.#options.context;
    const { messageId, messengerId } = row;
    const surface = surfaces.find(row);
    if (surface === undefined) return LONGEST_REST_MS;
    const outcome = await callWithin(deps.clock, CALL_TIMEOUT_MS, async (signal) =>
      surface.removePlaceholder?.(row, { signal }),
    );
    const failure = outcome.kind === "done" ? undefined : failureOf(surface, outcome);
    if (failure === undefined || failure.kind === "missing") placeholders.forget(messengerId, messageId);
    else {
      const { code, kind } = failure;
      log.warn("delivery.call-failed", { method: "remove", kind, code, messenger: messengerId });
    }
    return failure?.kind === "retry-after" ? failure.retryAfterMs : SHORTEST_REST_MS;
  }
}

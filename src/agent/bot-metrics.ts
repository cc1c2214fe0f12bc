import { z } from "zod";
import { figuresOf, PENALTY, totalsOf } from "../core/chat/figures.ts";
import type { FigureDeltas, Figures, Note } from "../core/chat/figures.ts";
import type { Clock } from "../core/base/deps.ts";
import type { ChatGate } from "../core/chat/gate.ts";
import { rootNameOf } from "../messengers/declare/conversation-name.ts";
import { renderMetrics } from "../messengers/root/health/render-metrics.ts";

const reportSchema = z.object({
  counts: z.record(z.string(), z.number()),
  notes: z.record(z.string(), z.object({ at: z.number(), code: z.string() })),
});

export interface BotMetricsOptions {
  readonly name: () => string;
  readonly clock: Pick<Clock, "now">;
}

/** Figures of the root, at the time of a request. */
export interface RootFigures {
  readonly conversations: number;
  readonly chats: number;
  readonly isReady: boolean;
}

/**
 * The figures of a bot. Each object counts for its process; see `Figures`. The root adds up what arrives with the calls
 * of other processes, and shows all of it.
 */
export class BotMetrics {
  readonly #options: BotMetricsOptions;
  constructor(options: BotMetricsOptions) {
    this.#options = options;
  }

  /** Adds the figures that came with a call to this root. */
  absorb(report: unknown): void {
    const parsed = reportSchema.safeParse(report);
    // A caller of another version may send something else.
    if (parsed.success) this.#totals.absorb(parsed.data);
  }

  /** Writes the figures of the whole bot in Prometheus' text format. */
  render({ chats, conversations, isReady }: RootFigures): string {
    this.#collect();
    const gauges: FigureDeltas = {
      switchboard_conversations: conversations,
      switchboard_chats: chats,
      switchboard_ready: isReady ? 1 : 0,
    };
    return renderMetrics({ ...this.#totals.all(), ...gauges });
  }

  /** Returns the newest notes of the whole bot, by name. */
  notes(): ReadonlyMap<string, Note> {
    this.#collect();
    return this.#totals.notes();
  }

  /** Measures how long a webhook takes. */
  async webhook(body: () => Promise<Response | undefined>): Promise<Response | undefined> {
    const startedAt = this.#options.clock.now();
    const response = await body();
    if (response !== undefined) {
      const labels = { status: String(response.status) };
      this.#pending.observe("switchboard_webhook_seconds", labels, this.#options.clock.now() - startedAt);
    }
    return response;
  }

  /** Counts the calls and the penalties of a gate. */
  gate(gate: ChatGate): ChatGate {
    const count = (name: string, labels: Readonly<Record<string, string>>): void =>
      this.#pending.count(name, labels);
    return {
      acquire: async (request) => {
        const grant = await gate.acquire(request);
        if (grant.kind === "granted") count("switchboard_platform_calls_total", { purpose: request.purpose });
        return grant;
      },
      penalize: (address, retryAfterMs, account) => {
        count("switchboard_penalties_total", {});
        const name = `${PENALTY}${address.messengerId} ${address.chatId}`;
        this.#pending.note(name, { at: this.#options.clock.now() + retryAfterMs, code: "penalty" });
        return gate.penalize(address, retryAfterMs, account);
      },
      report: (...told) => gate.report(...told),
      unclaimed: (...asked) => gate.unclaimed(...asked),
      noteCard: (...told) => gate.noteCard(...told),
      findCard: (...asked) => gate.findCard(...asked),
      claimMessage: (...asked) => gate.claimMessage(...asked),
    };
  }

  /** Adds the counts of this process. */
  #collect(): void {
    const report = this.#pending.take();
    if (report !== undefined) this.#totals.absorb(report);
  }

  get #pending(): Figures {
    return figuresOf(this.#root());
  }

  /** At the root: the totals since the start of its process. */
  get #totals(): Figures {
    return totalsOf(this.#root());
  }

  #root(): string {
    return rootNameOf(this.#options.name());
  }
}

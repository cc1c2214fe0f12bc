import type { Broadcast, BroadcastWork, ManyChatsSender } from "../../core/broadcast.ts";
import { MOST_OPEN } from "../../core/broadcast.ts";
import { NO_TARGETS } from "../runs/step-result.ts";
import type { DeliverTo, DeliveryTarget } from "../rules/scheduled-task.ts";
import type { LegReport } from "../../scheduled-runs/leg.ts";
import type { ManyWork } from "../runs/occurrence-host.ts";

export interface ManyChatsOptions {
  readonly broadcasts: () => Pick<ManyChatsSender, "startBroadcast" | "getBroadcast">;
  /** Returns the chats that a task names. */
  readonly targetsOf: (deliverTo: DeliverTo) => Promise<readonly DeliveryTarget[]>;
}

/** Chats that want no message, or get none because somebody has cancelled the delivery. Neither is a failure. */
const UNWANTED: ReadonlySet<string> = new Set(["unsubscribed", "cancelled"]);

/** Deliveries of scheduled tasks to many chats, which are broadcasts of the root. */
export class ManyChats {
  readonly #options: ManyChatsOptions;

  constructor(options: ManyChatsOptions) {
    this.#options = options;
  }

  /** Begins a delivery, unless it has begun before. Continues one whose chats were not stored completely. */
  async begin(id: string, work: ManyWork, deliverTo: DeliverTo | undefined): Promise<void> {
    const { broadcasts, targetsOf } = this.#options;
    const known = await broadcasts().getBroadcast(id);
    if (known !== undefined && known.state !== "collecting") return;
    const targets = deliverTo === "subscribers" ? deliverTo : await targetsOf(deliverTo ?? []);
    await broadcasts().startBroadcast({ id, work: workOf(id, work), targets, isKnownById: true });
  }

  async report(id: string): Promise<LegReport> {
    const broadcast = await this.#options.broadcasts().getBroadcast(id);
    if (broadcast === undefined) return { state: "failed", code: "broadcast-lost" };
    const { endedAt, failures, sent, skips, usage } = broadcast;
    if (endedAt === undefined) return { state: isUnderWay(broadcast) ? "open" : "waiting", usage };
    if (sent > 0) return { state: "completed", usage };
    const reasons = Object.entries({ ...skips, ...failures });
    const [code = NO_TARGETS] = reasons.toSorted((a, b) => b[1] - a[1])[0] ?? [];
    const isUnwanted = reasons.every(([reason]) => UNWANTED.has(reason));
    return { state: isUnwanted ? "skipped" : "failed", code, usage };
  }
}

/** Whether chats are being reached, apart from those in which somebody has been asked about an action. */
function isUnderWay({ deciding = 0, quiet = 0, waiting }: Broadcast): boolean {
  return deciding === 0 || (deciding < MOST_OPEN && deciding + quiet < waiting);
}

function workOf(id: string, work: ManyWork): BroadcastWork {
  if (work.kind === "text") return { kind: "content", content: work.text, informModel: true };
  const { metadata, prompt, run } = work;
  return {
    kind: "prompt",
    messages: [{ id, role: "user", parts: [{ type: "text", text: prompt }] }],
    metadata,
    run,
  };
}

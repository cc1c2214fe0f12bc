import type {
  Broadcast,
  BroadcastReceipt,
  BroadcastWork,
  ManyChatsSender,
} from "../../core/turn/broadcast.ts";
import { MOST_OPEN, takenAs } from "../../core/turn/broadcast.ts";
import { NO_TARGETS } from "../runs/step-result.ts";
import type { OccurrenceDelivery, Target } from "../rules/occurrence.ts";
import type { DeliverTo, DeliveryTarget } from "../rules/scheduled-task.ts";
import type { ManyReport, ManyWork } from "../runs/occurrence-host.ts";
import type { ScheduledTurnCalls } from "../../scheduled-runs/scheduled-turns.ts";

export interface ManyChatsOptions {
  readonly broadcasts: () => Omit<ManyChatsSender, "hasSubscribers">;
  /** Returns the chats that a task names. */
  readonly targetsOf: (deliverTo: DeliverTo) => Promise<readonly DeliveryTarget[]>;
}

/** Chats that want no message, or get none because somebody has cancelled the delivery. Neither is a failure. */
const UNWANTED: ReadonlySet<string> = new Set(["unsubscribed", "cancelled"]);

/** Deliveries of scheduled tasks to their chats, which are broadcasts of the root. */
export class ManyChats {
  readonly #options: ManyChatsOptions;

  constructor(options: ManyChatsOptions) {
    this.#options = options;
  }

  /** Begins a delivery, unless it has begun before. Continues one whose chats were not stored completely. */
  async begin(id: string, work: ManyWork, to: DeliverTo | readonly Target[] | undefined): Promise<void> {
    const { broadcasts, targetsOf } = this.#options;
    const known = await broadcasts().getBroadcast(id);
    if (known !== undefined && known.state !== "collecting") return;
    const targets = to === "subscribers" || isPlaced(to) ? to : await targetsOf(to ?? []);
    await broadcasts().startBroadcast({ id, work: workOf(id, work), targets, isKnownById: true });
  }

  /** @param isListed whether the state in each chat is asked for, of which there are at most 100 */
  async report(id: string, isListed: boolean): Promise<ManyReport> {
    const broadcast = await this.#options.broadcasts().getBroadcast(id);
    if (broadcast === undefined) return { state: "failed", code: "broadcast-lost" };
    const { receipts } = isListed ? await this.#options.broadcasts().broadcastReceipts(id, {}) : NONE;
    const chats = receipts.flatMap((receipt) => deliveryOf(receipt));
    const { usage } = broadcast;
    return { ...(isListed ? stateOfListed(broadcast, chats) : stateOf(broadcast)), usage };
  }

  /** Ends a delivery for a task that somebody has deleted: no further message begins, and its turns end. */
  async end(id: string, turnsOf: (conversation: string) => Pick<ScheduledTurnCalls, "end">): Promise<void> {
    const broadcasts = this.#options.broadcasts();
    await broadcasts.cancelBroadcast(id);
    const { receipts } = await broadcasts.broadcastReceipts(id, { state: "open", limit: MOST_OPEN });
    for (const { address, conversation } of receipts)
      if (address !== undefined && conversation !== undefined)
        await turnsOf(conversation).end(takenAs(id, address));
  }
}

const NONE: { readonly receipts: readonly BroadcastReceipt[] } = { receipts: [] };

function stateOfListed(broadcast: Broadcast, chats: readonly OccurrenceDelivery[]): ManyReport {
  if (broadcast.endedAt === undefined) return { ...stateOf(broadcast), chats };
  const messageIds = chats.flatMap((chat) => chat.messageIds);
  const codeIn = (state: OccurrenceDelivery["state"]): string | undefined =>
    chats.find((chat) => chat.state === state && chat.code !== undefined)?.code;
  if (broadcast.sent > 0) return { state: "completed", code: codeIn("delivered"), messageIds, chats };
  // A chat that can no longer be found is not among them.
  if (broadcast.failed > 0 || chats.length === 0)
    return {
      ...stateOf(broadcast),
      ...(broadcast.failed > 0 && { code: codeIn("failed") }),
      messageIds,
      chats,
    };
  return { state: "skipped", code: codeIn("skipped"), messageIds, chats };
}

function stateOf(broadcast: Broadcast): ManyReport {
  const { endedAt, failures, sent, skips } = broadcast;
  if (endedAt === undefined) return { state: isUnderWay(broadcast) ? "open" : "waiting" };
  if (sent > 0) return { state: "completed" };
  const reasons = Object.entries({ ...skips, ...failures });
  const [code = NO_TARGETS] = reasons.toSorted((a, b) => b[1] - a[1])[0] ?? [];
  const isUnwanted = reasons.every(([reason]) => UNWANTED.has(reason));
  return { state: isUnwanted ? "skipped" : "failed", code };
}

/** Whether chats are being reached, apart from those in which somebody has been asked about an action. */
function isUnderWay({ deciding = 0, quiet = 0, waiting }: Broadcast): boolean {
  return deciding === 0 || (deciding < MOST_OPEN && deciding + quiet < waiting);
}

function deliveryOf({ address, code, messageIds, state }: BroadcastReceipt): OccurrenceDelivery[] {
  if (address === undefined) return [];
  switch (state) {
    case "waiting":
      return [{ address, state: "pending", messageIds }];
    case "open":
      return [{ address, state: code === undefined ? "pending" : "waiting", messageIds }];
    case "sent":
      return [{ address, state: "delivered", messageIds, ...(code !== undefined && { code }) }];
    case "failed":
    case "skipped": {
      const reason = code === "no-answer" ? "empty-answer" : code;
      return [{ address, state, messageIds, ...(reason !== undefined && { code: reason }) }];
    }
    default:
      return state satisfies never;
  }
}

function workOf(id: string, work: ManyWork): BroadcastWork {
  const { run } = work;
  if (work.kind === "text")
    return { kind: "content", content: work.text, informModel: true, isAnswer: true, run };
  return {
    kind: "prompt",
    messages: [{ id, role: "user", parts: [{ type: "text", text: work.prompt }] }],
    metadata: work.metadata,
    run,
  };
}

function isPlaced(to: DeliverTo | readonly Target[] | undefined): to is readonly Target[] {
  return (
    Array.isArray(to) &&
    to.every((one: unknown) => typeof one === "object" && one !== null && "address" in one)
  );
}

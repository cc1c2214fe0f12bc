import type { PlacedTarget } from "../../core/broadcast.ts";
import { BOT_CODE_LIMIT_MS } from "../../core/bot-code.ts";
import type { ChatEntry } from "../../core/chat.ts";
import type { Clock } from "../../core/deps.ts";
import { withinTime } from "../../core/within-time.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Target } from "../rules/occurrence.ts";
import type { DeliverTo, DeliveryTarget } from "../rules/scheduled-task.ts";
import type { FoundTargets } from "../runs/occurrence-host.ts";
import type { RootCalls } from "../../messengers/root/root-link.ts";

export interface TaskTargetsOptions {
  readonly clock: Clock;
  /** The conversation of this object. Undefined at the root. */
  readonly conversation: string | undefined;
  readonly root: () => Pick<RootCalls, "locateTarget">;
  /** The chats that the bot can write to. Only at the root. */
  readonly chats: () => readonly ChatEntry[];
  /** Whether the bot can write to a chat that has subscribed. Only at the root. */
  readonly hasSubscribers: () => Promise<boolean>;
}

/** Of more targets than this, only the broadcast that reaches them lists the deliveries. */
const MOST_TARGETS = 100;

/** The chats that scheduled tasks name: those that get their texts, and those of their owners. */
export class TaskTargets {
  readonly #options: TaskTargetsOptions;

  constructor(options: TaskTargetsOptions) {
    this.#options = options;
  }

  /** Returns the chats that a task names. A function of the bot chooses among the chats that the bot knows. */
  async named(deliverTo: DeliverTo): Promise<readonly DeliveryTarget[]> {
    const { chats, clock } = this.#options;
    if (typeof deliverTo !== "function") return [deliverTo].flat();
    const chosen = await withinTime(clock, BOT_CODE_LIMIT_MS, deliverTo(chats()), "deliverTo()");
    return [chosen].flat();
  }

  /** Returns the chats that can be reached, each once. A task that names none is for its own conversation. */
  async find(deliverTo: DeliverTo | undefined): Promise<FoundTargets> {
    const { conversation, hasSubscribers, root } = this.#options;
    if (deliverTo === "subscribers") return { kind: (await hasSubscribers()) ? "many" : "none" };
    const own = conversation === undefined ? [] : [{ conversation }];
    const asked = deliverTo === undefined ? own : await this.named(deliverTo);
    const found = new Map<string, Target>();
    let code: string | undefined;
    for (const to of asked) {
      const located = await root().locateTarget(to);
      if (located.kind === "refused") {
        code = located.code;
        continue;
      }
      const { address, conversation: remembers, key } = located;
      found.set(key, { conversation: remembers, address });
    }
    if (found.size > MOST_TARGETS) return { kind: "many" };
    const targets = [...found.values()];
    if (targets.length > 0 || (conversation === undefined && deliverTo === undefined))
      return { kind: "found", targets };
    return code === undefined ? { kind: "none" } : { kind: "refused", code };
  }

  /** Finds the chat of a task's owner. Undefined if the task has none. */
  async ownerOf(task: CheckedTask): Promise<PlacedTarget | undefined> {
    const { conversation, root } = this.#options;
    const owner = task.owner ?? (conversation === undefined ? undefined : { conversation });
    return owner === undefined ? undefined : root().locateTarget(owner);
  }
}

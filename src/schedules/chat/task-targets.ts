import type { PlacedTarget } from "../../core/turn/broadcast.ts";
import { BOT_CODE_LIMIT_MS } from "../../core/time/bot-code.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Target } from "../rules/occurrence.ts";
import type { DeliverTo, DeliveryTarget } from "../rules/scheduled-task.ts";
import type { FoundTargets } from "../runs/occurrence-host.ts";
import { allChats } from "../../messengers/root/chats/all-chats.ts";
import { ROOT } from "../../messengers/root/root-link.ts";
import type { SchedulesObject } from "../rules/bot-methods.ts";

/** Of more targets than this, only the broadcast that reaches them lists the deliveries. */
const MOST_TARGETS = 100;

/** The chats that scheduled tasks name: those that get their texts, and those of their owners. */
export class TaskTargets {
  readonly #host: Pick<SchedulesObject, "deps" | "directories" | "features" | "objects">;

  constructor(host: Pick<SchedulesObject, "deps" | "directories" | "features" | "objects">) {
    this.#host = host;
  }

  /** Returns the chats that a task names. A function of the bot chooses among the chats that the bot knows. */
  async named(deliverTo: DeliverTo): Promise<readonly DeliveryTarget[]> {
    const { deps, directories } = this.#host;
    if (typeof deliverTo !== "function") return [deliverTo].flat();
    const chats = allChats((filter) => directories.listChats(filter));
    const chosen = await withinTime(deps.clock, BOT_CODE_LIMIT_MS, deliverTo(chats), "deliverTo()");
    return [chosen].flat();
  }

  /** Returns the chats that can be reached, each once. A task that names none is for its own conversation. */
  async find(deliverTo: DeliverTo | undefined): Promise<FoundTargets> {
    const { features, objects } = this.#host;
    const conversation = objects.address() || undefined;
    if (deliverTo === "subscribers")
      return { kind: (await features.manyChats.hasSubscribers()) ? "many" : "none" };
    const own = conversation === undefined ? [] : [{ conversation }];
    const asked = deliverTo === undefined ? own : await this.named(deliverTo);
    const found = new Map<string, Target>();
    let code: string | undefined;
    for (const to of asked) {
      const located = await objects.root(ROOT).locateTarget(to);
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
    const { objects } = this.#host;
    const conversation = objects.address() || undefined;
    const owner = task.owner ?? (conversation === undefined ? undefined : { conversation });
    return owner === undefined ? undefined : objects.root(ROOT).locateTarget(owner);
  }
}

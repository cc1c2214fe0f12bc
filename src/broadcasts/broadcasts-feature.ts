import type { LifecycleJob } from "agents/lifecycle";
import type { ChatMove } from "../core/chat/chat-move.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { DurableAlarm } from "../feature/durable-alarm.ts";
import type { ThinkCommands, CommandContext } from "../messengers/declare/commands.ts";
import type { QuietHoursMethods } from "../scheduled-runs/chat-quiet-hours.ts";
import { BROADCASTS, type BroadcastCalls } from "./broadcast-calls.ts";
import { RootBroadcasts } from "./root-broadcasts.ts";
import { takeBroadcast } from "./take-broadcast.ts";
import { localText, sayTo, type BotTexts, type TextName } from "../core/text/bot-texts.ts";
import { addressOf } from "../messengers/replies/address-of.ts";

/** The methods of the bot's class that are about broadcasts. */
export interface BroadcastMethods extends QuietHoursMethods {
  readonly subscribeCommands?: boolean;
  readonly texts?: BotTexts;
}

/** The alarm of the root's next slice. */
const ALARM = { id: "switchboard-broadcast-v1", fn: "broadcast" };

/** Messages to many chats: the root sends them, and each conversation takes its own. */
export class BroadcastsFeature implements Feature {
  readonly name = "broadcasts";
  readonly #host: FeatureHost<BroadcastMethods>;
  readonly #alarm: DurableAlarm;
  #own: RootBroadcasts | undefined;

  constructor(host: FeatureHost<BroadcastMethods>) {
    this.#host = host;
    this.#alarm = host.alarm(ALARM);
  }

  /** The broadcasts and subscribers of the whole bot, which the root keeps. */
  get manyChats(): BroadcastCalls {
    return this.#host.objects.root(BROADCASTS);
  }

  /** Only at the root: its broadcasts. */
  get calls(): RootBroadcasts {
    this.#own ??= new RootBroadcasts({
      host: this.#host,
      alarm: this.#alarm,
      take: (request) =>
        takeBroadcast(this.#host, request, (id, target) =>
          this.#host.later(() => void this.#tell(id, target)),
        ),
    });
    return this.#own;
  }

  start(): void {
    if (this.#host.objects.isRoot()) this.#host.later(() => this.calls.resume());
  }

  async onJob(job: LifecycleJob): Promise<boolean> {
    if (!this.#alarm.isOf(job)) return false;
    await this.calls.onAlarm((work) => this.#host.later(work));
    return true;
  }

  /** `/subscribe` and `/unsubscribe`, if the bot has switched them on. */
  commands(): ThinkCommands {
    const { agent } = this.#host;
    return agent.subscribeCommands === true ? subscribeCommands(agent.texts ?? {}, () => this.manyChats) : {};
  }

  chatMoved(messengerId: string, move: ChatMove): void {
    this.calls.moved(messengerId, move);
  }

  /** If that fails, the root asks by itself within minutes. */
  async #tell(broadcastId: string, target: string): Promise<void> {
    try {
      await this.manyChats.nudgeBroadcast(broadcastId, target);
    } catch (error) {
      this.#host.log.info("broadcast.not-told", { code: failureCode(error) });
    }
  }
}

/** Returns `/subscribe` and `/unsubscribe`, for the chat in which they are written. */
function subscribeCommands(
  texts: BotTexts,
  root: () => Pick<BroadcastCalls, "setSubscribed">,
): ThinkCommands {
  const set = async ({ event }: CommandContext, isOn: boolean, changed: TextName, same: TextName) => {
    const hasChanged = await root().setSubscribed(addressOf(event), isOn);
    return sayTo({ texts }, event.author)(hasChanged ? changed : same);
  };
  return {
    subscribe: {
      description: localText(texts, "subscribeCommand"),
      handler: (command) => set(command, true, "subscribed", "subscribedAlready"),
    },
    unsubscribe: {
      description: localText(texts, "unsubscribeCommand"),
      handler: (command) => set(command, false, "unsubscribed", "unsubscribedAlready"),
    },
  };
}

import type { FeatureHost } from "../feature/feature-host.ts";
import type { FeatureList } from "../feature/feature-list.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { AgentMethods } from "./agent-methods.ts";
import type { BotMetrics } from "./bot-metrics.ts";

/** One object of a bot, as its parts of this room use it. */
export interface ObjectHost extends FeatureHost<AgentMethods> {
  readonly features: FeatureList;
  readonly metrics: BotMetrics;
  /** The commands of the bot and of the product. */
  commands(): ThinkCommands;
}

import type { ToolSet } from "ai";
import {
  FUNCTION,
  isObject,
  oneOf,
  optionProblem,
  orFunction,
  TEXT,
  whole,
} from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { MessengerContext } from "../../core/chat/messenger-context.ts";

/**
 * - `messenger`: a messenger of `getMessengers()`
 * - `web`: a turn of the bot's own code that no chat sees, such as one of `chat()`
 * - `voice`, `custom`: any other name, which the bot's own code gives to a turn
 */
export type ChannelKind = "messenger" | "web" | "voice" | "custom";

/** The channel of a turn. */
export interface ChannelContext {
  /** The key in `configureChannels()` or `getMessengers()`, or `web`. */
  readonly channelId: string;
  readonly kind: ChannelKind;
  /** The event that the turn answers. */
  readonly messenger?: MessengerContext;
  /** The thread that sees the answer. */
  readonly thread?: string;
}

/** How the turns of a channel behave. */
export interface ChannelDefinition {
  /** The kind of the channel. @default `messenger` for a messenger's id, `web` for `web`, else `custom` */
  readonly kind?: ChannelKind;
  /** Put before the system prompt of the channel's turns. */
  readonly instructions?: string | ((context: ChannelContext) => string | Promise<string>);
  /**
   * Returns those of the bot's tools and actions that the channel's turns may call, by name. It can remove tools, not
   * add any.
   */
  readonly tools?: (all: ToolSet) => Readonly<Record<string, unknown>>;
  /** Most model calls of one turn. `maxSteps` of `beforeTurn` counts more. @default `maxSteps` of the bot */
  readonly maxTurns?: number;
}

/** The channels of a bot by id: ids of its messengers, `web`, and names of its own. */
export type ThinkChannels = Readonly<Record<string, ChannelDefinition>>;

export const WEB_CHANNEL = "web";

const CHANNEL: OptionRules<ChannelDefinition> = {
  kind: oneOf("messenger", "web", "voice", "custom"),
  instructions: orFunction(TEXT),
  tools: FUNCTION,
  maxTurns: whole(1),
};

/**
 * Checks the channels of a bot.
 *
 * @throws {ConfigurationError} `channel-invalid`, which names the channel and the fix
 */
export function checkChannels(
  channels: ThinkChannels,
  messengerIds: readonly string[],
): ReadonlyMap<string, ChannelDefinition> {
  if (!isObject(channels))
    throw new ConfigurationError(
      "channel-invalid",
      "configureChannels() must return an object with a channel for each id.",
    );
  for (const [id, channel] of Object.entries(channels)) {
    if (!/^[\w-]{1,64}$/.test(id))
      throw invalid(id.slice(0, 64), 'Its id must have 1 to 64 letters, digits, "_" and "-".');
    const problem = optionProblem(channel, CHANNEL, {});
    if (problem !== undefined) throw invalid(id, `${problem} Messengers are connected by getMessengers().`);
    const { kind } = channel;
    const isMessenger = messengerIds.includes(id);
    if (kind === "messenger" && !isMessenger)
      throw invalid(id, `There is no messenger "${id}". Add it to getMessengers(), or remove the kind.`);
    if (isMessenger && kind !== undefined && kind !== "messenger")
      throw invalid(id, `It is a messenger of getMessengers(). Remove the kind, or use another id.`);
    if ((id === WEB_CHANNEL && !isMessenger) !== (kind === "web") && kind !== undefined)
      throw invalid(id, 'The channel "web", and no other one, is of the kind "web". Remove the kind.');
  }
  return new Map(Object.entries(channels));
}

function invalid(id: string, problem: string): ConfigurationError {
  return new ConfigurationError("channel-invalid", `The channel "${id}" cannot be used. ${problem}`);
}

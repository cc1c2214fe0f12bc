import type { ToolSet } from "ai";
import { runBotCode } from "../../core/time/bot-code.ts";
import type { Clock } from "../../core/base/deps.ts";
import { InvalidInputError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerContext } from "../../core/chat/messenger-context.ts";
import { getMessengerContext, getTurn } from "../../core/turn/turn-context.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { checkChannels, WEB_CHANNEL } from "../declare/channels.ts";
import type { ChannelContext, ChannelDefinition, ChannelKind, ThinkChannels } from "../declare/channels.ts";

/** The methods of the bot's class that are about channels. */
export interface ChannelMethods {
  configureChannels?(): ThinkChannels;
}

interface BotCode {
  readonly clock: Clock;
  readonly log: Log;
}

/** How turns behave on their channels, as `configureChannels()` says. It is read once in the life of an object. */
export class ChannelPolicies {
  readonly #agent: ChannelMethods;
  readonly #messengers: Pick<DeclaredMessengers, "all">;
  #known: ReadonlyMap<string, ChannelDefinition> | undefined;

  constructor(agent: ChannelMethods, messengers: Pick<DeclaredMessengers, "all">) {
    this.#agent = agent;
    this.#messengers = messengers;
  }

  /** @throws {ConfigurationError} `channel-invalid` */
  check(): ReadonlyMap<string, ChannelDefinition> {
    this.#known ??= checkChannels(this.#agent.configureChannels?.() ?? {}, this.#messengerIds());
    return this.#known;
  }

  #messengerIds(): string[] {
    return this.#messengers.all().map(({ id }) => id);
  }

  /** Returns the most model calls of a turn. Undefined if its channel has no limit. */
  maxSteps(turn: TurnInfo | undefined): number | undefined {
    return this.#of(turn)?.maxTurns;
  }

  /** Returns the channel of the running turn, or of the event that is being handled. */
  active(): ChannelContext | undefined {
    const turn = getTurn();
    const event = getMessengerContext();
    const channelId = turn === undefined ? event?.messengerId : channelOf(turn);
    return channelId === undefined ? undefined : this.#context(channelId, turn, event);
  }

  /** Returns the addition of the running turn's channel to the system prompt. */
  async instructions(botCode: BotCode): Promise<string | undefined> {
    const { instructions } = this.#of(getTurn()) ?? {};
    const context = this.active();
    if (typeof instructions !== "function" || context === undefined)
      return typeof instructions === "string" ? instructions : undefined;
    return runBotCode(botCode, "configureChannels.instructions", () => instructions(context));
  }

  /** Returns those of the bot's tools that the running turn's channel has. */
  async narrowed(botCode: BotCode, all: ToolSet): Promise<ToolSet> {
    const { tools } = this.#of(getTurn()) ?? {};
    if (tools === undefined) return all;
    const kept = await runBotCode(botCode, "configureChannels.tools", () => tools({ ...all }));
    return Object.fromEntries(Object.entries(all).filter(([name]) => Object.hasOwn(kept, name)));
  }

  /**
   * Checks a channel that the bot's own code names for a turn.
   *
   * @throws {InvalidInputError} `channel-unknown`
   */
  known(channelId: string): string {
    if (this.#isKnown(channelId)) return channelId;
    const ids = [WEB_CHANNEL, ...this.#messengerIds(), ...this.check().keys()];
    throw new InvalidInputError(
      "channel-unknown",
      `There is no channel "${channelId.slice(0, 64)}". Add it to configureChannels(), or use one of: ${[...new Set(ids)].join(", ")}.`,
    );
  }

  /**
   * Checks the channel of a notice: it must lead to chats.
   *
   * @throws {InvalidInputError} `channel-unknown`, `channel-without-chats`
   */
  withChats(channelId: string): void {
    if (this.#messengerIds().includes(channelId)) return;
    this.known(channelId);
    throw new InvalidInputError(
      "channel-without-chats",
      `The channel "${channelId}" has no chats, so nothing can be sent there. Name a messenger of getMessengers().`,
    );
  }

  #isKnown(channelId: string): boolean {
    return (
      channelId === WEB_CHANNEL || this.#messengerIds().includes(channelId) || this.check().has(channelId)
    );
  }

  #of(turn: TurnInfo | undefined): ChannelDefinition | undefined {
    return turn === undefined ? undefined : this.check().get(channelOf(turn));
  }

  #context(
    channelId: string,
    turn: TurnInfo | undefined,
    messenger: MessengerContext | undefined,
  ): ChannelContext {
    const thread = turn?.answerTo[0]?.threadId ?? messenger?.thread.id;
    return {
      channelId,
      kind: this.#kindOf(channelId),
      ...(messenger !== undefined && { messenger }),
      ...(thread !== undefined && { thread }),
    };
  }

  #kindOf(channelId: string): ChannelKind {
    if (this.#messengerIds().includes(channelId)) return "messenger";
    return this.check().get(channelId)?.kind ?? (channelId === WEB_CHANNEL ? "web" : "custom");
  }
}

/** Returns the id of a turn's channel: the one that it was given, else that of its chat. */
function channelOf({ answerTo, channel, event }: TurnInfo): string {
  return channel ?? event?.messengerId ?? answerTo[0]?.messengerId ?? WEB_CHANNEL;
}

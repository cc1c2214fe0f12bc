import type { LifecycleJob } from "agents/lifecycle";
import type { ThinkActions } from "../actions/declare/action.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import type { ChatMove } from "../core/chat/chat-move.ts";
import type { GonePlace } from "../core/chat/delivery.ts";
import type { ManyChatsSender } from "../core/turn/broadcast.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { Note } from "../core/chat/figures.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import type { FeatureQuestions } from "../messengers/intake/open-questions.ts";
import type { ActionConsent } from "../messengers/tools/action-consent.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { ActionQuestions } from "../messengers/tools/action-questions.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { StopEffect, TurnConsent } from "../messengers/turns/turn-consent.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import type { FeatureHost } from "./feature-host.ts";
import type { FeatureRoutes } from "./feature-routes.ts";
import type { Session } from "./session.ts";
import type { ThinkHooks } from "../turn/hooks.ts";
import type { OwnCompaction } from "../turn/model/own-compaction.ts";

/**
 * A feature in one object of a bot: all of it, from its tables to its cards. The composition knows features only as a
 * list of this contract, and features never know each other.
 *
 * 1. A feature object is cheap. Its tables are made with their first row.
 * 2. A member that is absent costs nothing.
 */
export interface Feature {
  /** Tells it apart from others: the owner of its cards. */
  readonly name: string;
  /** Runs after every start of the object. */
  start?(): void;
  /** Does the stored work that is due. The loop of the conversation calls it. */
  work?(): void | Promise<void>;
  /** Whether work is going on that only this process knows. */
  isBusy?(): boolean;
  /** The time of the next stored work, in epoch milliseconds. Undefined if there is none. */
  nextWakeAt?(): number | undefined;
  /** Does the work of a job of its own. Returns `false` if the job is another one's. */
  onJob?(job: LifecycleJob): Promise<boolean>;
  /** Answers a request to the root. Undefined if it is for another one. */
  handle?(request: Request): Promise<Response | undefined>;
  commands?(): ThinkCommands;
  actions?(): ThinkActions;
  /** Changes all actions of the bot, or adds more that no model is offered. */
  wrapActions?(actions: ThinkActions): ThinkActions;
  /** Adds hooks to those of the bot. Called for each hook. */
  wrapHooks?(hooks: Partial<ThinkHooks>): Partial<ThinkHooks>;
  /** Loads what `actions` returns. Called before a model call, and before a call runs outside of a turn. */
  loadActions?(): Promise<void>;
  /** An addition to the system prompt of the turn. */
  prompt?(): string | undefined | Promise<string | undefined>;
  /** What the bot's code keeps for its model, and how transcripts become shorter. */
  readonly session?: Session & OwnCompaction;
  /**
   * Its line in the block of capabilities, which ends the system prompt: what the tools of the turn are for.
   *
   * @param tools the names of the tools that the model is offered
   * @returns one short sentence or two; undefined if none of them is the feature's
   */
  capability?(tools: readonly string[]): string | undefined;
  /** Takes a press of one of its cards. Undefined if the card is another one's. */
  pressed?(press: FeaturePress): Promise<PressAnswer> | undefined;
  /** Its questions to people, whose answers may be messages. */
  readonly questions?: FeatureQuestions;
  /** People's consent to what turns do. */
  readonly consent?: ActionConsent & Omit<TurnConsent, "stopped">;
  /** Its way for actions to ask people something. */
  readonly asking?: ActionQuestions;
  /** Its questions, as those who follow the run of a schedule see them. */
  readonly runQuestions?: RunQuestions;
  /** The root's way to send to many chats. */
  readonly manyChats?: ManyChatsSender;
  /** For whom the calls of a turn run that tells an outcome of its own. Undefined for other turns. */
  factsOfOutcome?(turn: TurnInfo): CallFacts | undefined;
  /** Another turn replaces a turn. */
  turnReplaced?(turnId: string): void;
  /** Whether a run of code goes on, or the turn that tells its end is still to come. */
  isCodeOpen?(run: string): boolean;
  /** A call of a turn, or of a run that follows from it, shows how far it is. */
  progressed?(turnId: string, line: string): void;
  /** A person has ended what runs in a chat. */
  stopped?(by: MessengerEvent): StopEffect;
  /** A chat accepts no messages any more. */
  chatGone?(place: GonePlace): void;
  /** A chat of this conversation continues under another id. Called after that is stored. */
  conversationMoved?(messengerId: string, move: ChatMove): void;
  /** At the root: a chat continues under another id. */
  chatMoved?(messengerId: string, move: ChatMove): void;
  /** The declarations of the bot that it checks for `/health`. `method` is where the mistake is. */
  readonly check?: { readonly method: string; run(): void };
  /** At the root: what an operator should look at. */
  warnings?(notes: ReadonlyMap<string, Note>): HealthWarning[];
  /** The calls that it answers for other objects of the bot, under its name. */
  readonly calls?: object;
}

/** A feature that a bot can have. */
export interface FeatureKind<Kind extends Feature = Feature, Methods = never> {
  readonly name: string;
  /** Its paths for other systems. */
  readonly routes?: FeatureRoutes | undefined;
  create(host: FeatureHost<Methods>): Kind;
}

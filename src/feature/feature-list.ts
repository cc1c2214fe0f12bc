import type { LifecycleJob } from "agents/lifecycle";
import type { ThinkActions } from "../actions/declare/action.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import type { ChatMove } from "../core/chat/chat-move.ts";
import type { ManyChatsSender } from "../core/turn/broadcast.ts";
import type { GonePlace } from "../core/chat/delivery.ts";
import { ConfigurationError, failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { Note } from "../core/chat/figures.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import type { HeldMessage, MessengerHint, TakenMessage } from "../messengers/intake/open-questions.ts";
import type { ThreadFeatures } from "../messengers/thread/thread-features.ts";
import type { StopEffect } from "../messengers/turns/turn-consent.ts";
import type { ActionQuestions } from "../messengers/tools/action-questions.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import type { ScheduledTurns } from "../scheduled-runs/scheduled-turns.ts";
import type { ThinkHooks } from "../turn/hooks.ts";
import type { Feature, FeatureKind } from "./feature.ts";
import { notImported, type ImportedMember } from "./imported-feature.ts";

export interface FeatureListOptions {
  readonly log: Log;
  readonly runs: Pick<ScheduledTurns, "runOf">;
}

/** The features of one object, in the order of the bot's list. */
export class FeatureList implements ThreadFeatures {
  readonly #options: FeatureListOptions;
  readonly #features: readonly Feature[];
  readonly #byName: ReadonlyMap<string, Feature>;

  constructor(features: readonly Feature[], options: FeatureListOptions) {
    this.#options = options;
    this.#features = features;
    this.#byName = new Map(features.map((feature) => [feature.name, feature]));
  }

  /**
   * Returns a feature of the object.
   *
   * @throws {ConfigurationError} `feature-missing` if the bot has none of this kind
   */
  get<Kind extends Feature>({ name }: FeatureKind<Kind>): Kind {
    const found = this.#byName.get(name);
    // The name belongs to this kind.
    if (found !== undefined) return found as Kind;
    throw new ConfigurationError(
      "feature-missing",
      `This bot was built without "${name}". It may need an import: "switchboard/${name}".`,
    );
  }

  /** Returns the feature that a bot has by the import of a static member. @throws {ConfigurationError} `feature-not-imported` */
  imported<Kind extends Feature>(member: ImportedMember): Kind {
    const found = this.#byName.get(member);
    if (found === undefined) throw notImported(member);
    // The name belongs to this kind.
    return found as Kind;
  }

  /** People's consent to actions. Undefined in a bot without approvals. */
  get consent(): Feature["consent"] {
    return this.#first(({ consent }) => consent);
  }

  /** Questions of actions to people. Undefined in a bot without questions. */
  get asking(): ActionQuestions | undefined {
    return this.#first(({ asking }) => asking);
  }

  /** The questions of all features, as those see them who follow the run of a schedule. */
  get runQuestions(): RunQuestions {
    const all = this.#features.flatMap(({ runQuestions }) => runQuestions ?? []);
    return {
      ofTurn: (turnId) => all.flatMap((one) => one.ofTurn(turnId)),
      waitingIn: (turnId) => all.map((one) => one.waitingIn(turnId)).find((found) => found !== undefined),
      askedBy: (metadata) => all.map((one) => one.askedBy(metadata)).find((found) => found !== undefined),
      dropRun: (turnId) => {
        for (const one of all) one.dropRun(turnId);
      },
    };
  }

  isCodeOpen(run: string): boolean {
    return this.#features.some((feature) => feature.isCodeOpen?.(run) === true);
  }

  /** @throws {ConfigurationError} `feature-missing` in a bot without broadcasts */
  get manyChats(): ManyChatsSender {
    const found = this.#first(({ manyChats }) => manyChats);
    if (found !== undefined) return found;
    throw new ConfigurationError("feature-missing", 'This bot was built without "broadcasts".');
  }

  /** Returns the object that answers the calls of a feature. */
  answering(name: string): object | undefined {
    return this.#byName.get(name)?.calls;
  }

  start(): void {
    for (const feature of this.#features) feature.start?.();
  }

  work(): void {
    for (const feature of this.#features) void this.#workOf(feature);
  }

  async #workOf(feature: Feature): Promise<void> {
    try {
      await feature.work?.();
    } catch (error) {
      this.#options.log.error("thread.failed", { code: failureCode(error) });
    }
  }

  isBusy(): boolean {
    return this.#some((feature) => feature.isBusy?.());
  }

  nextWakeAt(): number | undefined {
    const times = this.#features.flatMap((feature) => feature.nextWakeAt?.() ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async onJob(job: LifecycleJob): Promise<void> {
    for (const feature of this.#features) if ((await feature.onJob?.(job)) === true) return;
  }

  async handle(request: Request): Promise<Response | undefined> {
    for (const feature of this.#features) {
      const response = await feature.handle?.(request);
      if (response !== undefined) return response;
    }
    return undefined;
  }

  commands(): ThinkCommands {
    return Object.assign({}, ...this.#features.map((feature) => feature.commands?.())) as ThinkCommands;
  }

  actions(): ThinkActions {
    return Object.assign({}, ...this.#features.map((feature) => feature.actions?.())) as ThinkActions;
  }

  wrapActions(actions: ThinkActions): ThinkActions {
    return this.#features.reduce((all, feature) => feature.wrapActions?.(all) ?? all, actions);
  }

  wrapHooks(hooks: Partial<ThinkHooks>): Partial<ThinkHooks> {
    return this.#features.reduce((all, feature) => feature.wrapHooks?.(all) ?? all, hooks);
  }

  async loadActions(): Promise<void> {
    for (const feature of this.#features) await feature.loadActions?.();
  }

  async prompts(): Promise<string[]> {
    const added: string[] = [];
    for (const feature of this.#features) {
      const prompt = await feature.prompt?.();
      if (prompt !== undefined && prompt !== "") added.push(prompt);
    }
    return added;
  }

  /** What the bot's code keeps for its model. Undefined in a bot without memory. */
  get session(): Feature["session"] {
    return this.#first(({ session }) => session);
  }

  /** Returns the lines of the block of capabilities. */
  capabilities(tools: readonly string[]): string[] {
    return this.#features.flatMap((feature) => feature.capability?.(tools) ?? []);
  }

  /** Returns the name of the feature that has a command. `""` if none has it. */
  ownerOf(command: string): string {
    return this.#features.find((feature) => command in (feature.commands?.() ?? {}))?.name ?? "";
  }

  /**
   * Passes a press to the feature that has posted its card. Undefined if that is the bot's own code.
   *
   * @param owner the card's owner. Undefined for cards of releases before 0.2.0: each feature looks at their payload, in
   * the order of the list. Such cards are kept for 90 days.
   */
  pressed(press: FeaturePress, owner: string | undefined): Promise<PressAnswer> | undefined {
    if (owner === undefined) return this.#first((feature) => feature.pressed?.(press));
    return this.#byName.get(owner)?.pressed?.(press);
  }

  takesReply(cardId: string, event: MessengerEvent): boolean {
    return this.#some(({ questions }) => questions?.takesReply(cardId, event));
  }

  storesPress(cardId: string, owner: string | undefined): boolean {
    return this.#byName.get(owner ?? "")?.questions?.storesPress?.(cardId, owner) === true;
  }

  isBareWord(event: MessengerEvent): boolean {
    return this.#some(({ questions }) => questions?.isBareWord?.(event));
  }

  hint(event: MessengerEvent): MessengerHint | undefined {
    return this.#first(({ questions }) => questions?.hint?.(event));
  }

  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined {
    return this.#first(({ questions }) => questions?.hintAt?.(cardId, event));
  }

  taken(event: MessengerEvent): TakenMessage | HeldMessage | undefined {
    return this.#first(({ questions }) => questions?.taken?.(event));
  }

  messageDeleted(event: MessengerEvent): void {
    for (const { questions } of this.#features) questions?.messageDeleted(event);
  }

  waitingIn(event: MessengerEvent): number {
    return this.#features.reduce((sum, { questions }) => sum + (questions?.waitingIn?.(event) ?? 0), 0);
  }

  hasConsent(turnId: string): boolean {
    return this.consent?.hasConsent(turnId) === true || this.asking?.hasAsked(turnId) === true;
  }

  isAsking(turnId: string): boolean {
    return this.consent?.isAsking(turnId) === true;
  }

  stepEnded(turnId: string): void {
    this.consent?.stepEnded(turnId);
  }

  turnReplaced(turnId: string): void {
    this.consent?.turnReplaced(turnId);
    for (const feature of this.#features) feature.turnReplaced?.(turnId);
  }

  stopped(by: MessengerEvent): StopEffect {
    const effects = new Set(this.#features.map((feature) => feature.stopped?.(by)));
    return (["seen", "unseen"] as const).find((effect) => effects.has(effect)) ?? "nothing";
  }

  runOf(turnId: string): ScheduledRun | undefined {
    return this.#options.runs.runOf(turnId);
  }

  factsOfOutcome(turn: TurnInfo): CallFacts | undefined {
    const told = this.consent?.factsOfOutcome(turn) ?? this.asking?.factsOfOutcome(turn);
    return told ?? this.#first((feature) => feature.factsOfOutcome?.(turn));
  }

  progressed(turnId: string, line: string): void {
    for (const feature of this.#features) feature.progressed?.(turnId, line);
  }

  chatGone(place: GonePlace): void {
    for (const feature of this.#features) feature.chatGone?.(place);
  }

  conversationMoved(messengerId: string, move: ChatMove): void {
    for (const feature of this.#features) feature.conversationMoved?.(messengerId, move);
  }

  chatMoved(messengerId: string, move: ChatMove): void {
    for (const feature of this.#features) feature.chatMoved?.(messengerId, move);
  }

  warnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
    return this.#features.flatMap((feature) => feature.warnings?.(notes) ?? []);
  }

  /** The checks of the bot's declarations, for `/health`. */
  checks(): NonNullable<Feature["check"]>[] {
    return this.#features.flatMap(({ check }) => check ?? []);
  }

  #some(test: (feature: Feature) => boolean | undefined): boolean {
    return this.#features.some((feature) => test(feature) === true);
  }

  #first<T>(find: (feature: Feature) => T | undefined): T | undefined {
    for (const feature of this.#features) {
      const found = find(feature);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

import type { ToolSet } from "ai";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { revertActions, revertName } from "../actions/tools/revert-action.ts";
import type { Json } from "../core/content.ts";
import { logBotFailure } from "../core/bot-code.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { codeObject } from "./bot-objects.ts";
import type { CodeFeature, CodeObject } from "./bot-objects.ts";
import { CodeRuns } from "./code-runs.ts";
import { CodeStore } from "./code-store.ts";
import { RunRollback } from "./run-rollback.ts";

/** The methods of the bot's class that are about code. */
interface CodemodeMethods {
  getTools(): ToolSet | Promise<ToolSet>;
}

/** Most calls that a card names. */
const MOST_NAMED = 8;

/**
 * Code that a model writes, and that calls tools: its runs in one conversation, with their logs. Every call is one of an
 * action, so `CodeRuns` has only the order of the calls and their results.
 */
export class CodemodeFeature implements Feature, CodeFeature {
  readonly name = "codemode";
  readonly runs: CodeRuns;
  readonly store: CodeStore;
  readonly rollback: RunRollback;
  readonly host: FeatureHost<CodemodeMethods>;
  readonly #object: CodeObject;

  constructor(host: FeatureHost<unknown>) {
    // Every bot has these methods.
    this.host = host as FeatureHost<CodemodeMethods>;
    this.store = new CodeStore(host.database);
    this.#object = codeObject(Reflect.get(host.agent as object, "ctx") as object);
    this.#object.feature = this;
    const partsOf = (name: string) => this.#object.runtimes.get(name);
    this.runs = new CodeRuns({ host, store: this.store, partsOf, load: () => this.loadActions() });
    this.rollback = new RunRollback({ host, store: this.store, partsOf });
  }

  actions(): ThinkActions {
    return Object.assign(
      {},
      ...[...this.#object.runtimes.values()].map((parts) => parts.actions()),
    ) as ThinkActions;
  }

  wrapActions(actions: ThinkActions): ThinkActions {
    return { ...actions, ...revertActions(actions) };
  }

  /** After a start nobody knows the bot's runtimes before its own code has made them. */
  async loadActions(): Promise<void> {
    const { runtimes } = this.#object;
    try {
      if (runtimes.size === 0) await this.host.agent.getTools();
      await Promise.all([...runtimes.values()].map((parts) => parts.load()));
    } catch (error) {
      logBotFailure(this.host.log, "codemode", error);
    }
  }

  /** The bot's actions that code can call. */
  botActions(): ReadonlyMap<string, Action> {
    const own = new Set(Object.keys(this.actions()));
    const all = Object.entries(this.host.actions.declared());
    const reverts = new Set(all.map(([key, { name = key }]) => revertName(name)));
    const named = all.map(([key, action]) => [action.name ?? key, action] as const);
    return new Map(named.filter(([name]) => !own.has(name) && !reverts.has(name)));
  }

  work(): void {
    this.runs.work();
  }

  isBusy(): boolean {
    return this.runs.isBusy();
  }

  nextWakeAt(): number | undefined {
    return this.runs.nextWakeAt();
  }

  keepResult(run: string, position: number, result: Json): void {
    this.store.changeCall({ run, position }, { state: "applied", result });
  }

  doneBefore(run: string, position: number): string | undefined {
    const done = this.store.calls(run).filter((call) => call.state === "applied" && call.position < position);
    if (done.length === 0) return undefined;
    const named = done.slice(0, MOST_NAMED).map(({ connector, method }) => `${connector}.${method}`);
    const more = done.length > MOST_NAMED ? ` and ${done.length - MOST_NAMED} more` : "";
    return `Done before it in this run: ${named.join(", ")}${more}.`;
  }

  codeOf(run: string): string | undefined {
    return this.store.get(run)?.code;
  }
}

import type { ToolSet } from "ai";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { revertActions, revertName } from "../actions/tools/revert-action.ts";
import type { ApprovalChange } from "../core/action/approval-preview.ts";
import type { Json } from "../core/message/content.ts";
import { logBotFailure } from "../core/time/bot-code.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import { actionWords } from "../actions/tools/action-words.ts";
import { codeCallOf, isCodeCall } from "../core/action/code-call.ts";
import type { ActionContext } from "../actions/declare/action-context.ts";
import { codeObject, type CodeFeature, type CodeObject } from "./bot-objects.ts";
import type { ConnectedRuntime } from "./connected-runtime.ts";
import { CodeRuns } from "./code-runs.ts";
import { CodeStore, type CodeCall } from "./code-store.ts";
import { RunRollback } from "./run-rollback.ts";

/** The methods of the bot's class that are about code. */
interface CodemodeMethods {
  getTools(): ToolSet | Promise<ToolSet>;
}

interface Asked {
  readonly ctx: ActionContext;
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
  readonly #texts: CodemodeTexts;

  constructor(host: FeatureHost<unknown>, { texts }: CodemodeOptions) {
    this.#texts = { ...ENGLISH, ...texts };
    // Every bot has these methods.
    this.host = host as FeatureHost<CodemodeMethods>;
    this.store = new CodeStore(host.database);
    this.#object = codeObject(Reflect.get(host.agent as object, "ctx") as object);
    this.#object.feature = this;
    const runtimeOf = (name: string) => this.#object.runtimes.get(name);
    this.runs = new CodeRuns({ host, store: this.store, runtimeOf, load: () => this.loadActions() });
    this.rollback = new RunRollback({ host, store: this.store, runtimeOf });
  }

  actions(): ThinkActions {
    return Object.assign(
      {},
      ...[...this.#object.runtimes.values()].map((runtime) => runtime.actions()),
    ) as ThinkActions;
  }

  wrapActions(actions: ThinkActions): ThinkActions {
    const told = Object.entries(actions).map(([key, action]) => [key, this.#told(action)] as const);
    return { ...Object.fromEntries(told), ...revertActions(actions) };
  }

  /** The card of a call of code says what the code has done before it, and has the code under More. */
  #told(action: Action): Action {
    if (action.kind === "server" || action.moreWords !== undefined) return action;
    return {
      ...action,
      preview: async (call: Asked) => {
        const own = (await action.preview?.(call as never)) ?? [];
        const before = this.#doneBefore(call.ctx.toolCallId);
        if (before === undefined) return own;
        return typeof own === "string" ? `${own}\n${before.label}: ${before.to}` : [before, ...own];
      },
      moreWords: ({ ctx: { toolCallId } }: Asked) =>
        isCodeCall(toolCallId) ? this.store.get(codeCallOf(toolCallId).run)?.code : undefined,
    };
  }

  #doneBefore(toolCallId: string): ApprovalChange | undefined {
    if (!isCodeCall(toolCallId)) return undefined;
    const { position, run } = codeCallOf(toolCallId);
    const done = this.store.calls(run).filter((call) => call.state === "applied" && call.position < position);
    if (done.length === 0) return undefined;
    const runtime = this.#object.runtimes.get(this.store.get(run)?.runtime ?? "");
    const what = done.slice(0, MOST_NAMED).map((call) => this.#wordsOf(call, runtime));
    if (done.length > MOST_NAMED) what.push("…");
    const words = what.join("; ");
    return { label: this.#texts.doneBefore, from: words, to: words };
  }

  #wordsOf(call: CodeCall, runtime: ConnectedRuntime | undefined): string {
    const name = runtime?.actionOf(call) ?? `${call.connector}.${call.method}`;
    const action = this.host.actions.named(name);
    return action === undefined ? name : actionWords(name, action, call.args);
  }

  /** After a start nobody knows the bot's runtimes before its own code has made them. */
  async loadActions(): Promise<void> {
    const { runtimes } = this.#object;
    try {
      if (runtimes.size === 0) await this.host.agent.getTools();
      await Promise.all([...runtimes.values()].map((runtime) => runtime.load()));
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

  isCodeOpen(run: string): boolean {
    return this.runs.isOpen(run);
  }

  get runQuestions(): RunQuestions {
    return this.runs;
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
}

export interface CodemodeOptions {
  /** Texts that people read. @default English */
  readonly texts?: Partial<CodemodeTexts>;
}

export interface CodemodeTexts {
  /** On the card of a call: a label above the earlier calls of its run. @default "Done before it in this run" */
  readonly doneBefore: string;
}

const ENGLISH: CodemodeTexts = { doneBefore: "Done before it in this run" };

import { isFailure } from "../actions/declare/action-errors.ts";
import { ledgerKeyOf } from "../actions/runs/ledger-key.ts";
import { revertCallId, revertName } from "../actions/tools/revert-action.ts";
import { codeCallId } from "../core/action/code-call.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { factsOf } from "./code-context.ts";
import type { CodeCall, CodeRun, CodeStore } from "./code-store.ts";
import type { RolledBack } from "./outcomes.ts";
import type { ConnectedRuntime } from "./connected-runtime.ts";

export interface RunRollbackOptions {
  readonly host: Pick<FeatureHost<unknown>, "actions" | "deps" | "log" | "durable">;
  readonly store: CodeStore;
  readonly runtimeOf: (runtime: string) => ConnectedRuntime | undefined;
}

/** Undoes the calls of a run, the newest first. Each is undone once, whatever happens in between. */
export class RunRollback {
  readonly #options: RunRollbackOptions;

  constructor(options: RunRollbackOptions) {
    this.#options = options;
  }

  async run(run: CodeRun): Promise<RolledBack[]> {
    const { host, store } = this.#options;
    const outcomes: RolledBack[] = [];
    for (const call of store.calls(run.id).toReversed()) {
      if (call.state !== "applied") continue;
      const outcome = await this.#revert(run, call);
      if (outcome.outcome === "reverted") store.changeCall(call, { state: "reverted" });
      outcomes.push(outcome);
    }
    store.change(run.id, { state: "rolled_back" });
    host.log.info("code.rolled-back", {
      run: run.id,
      reverted: outcomes.filter(({ outcome }) => outcome === "reverted").length,
      failed: outcomes.filter(({ outcome }) => outcome === "failed").length,
    });
    await host.durable();
    return outcomes;
  }

  async #revert(run: CodeRun, call: CodeCall): Promise<RolledBack> {
    const { actions } = this.#options.host;
    const { connector, method, position: seq } = call;
    const runtime = this.#options.runtimeOf(run.runtime);
    const name = runtime?.actionOf(call);
    const action = name === undefined ? undefined : actions.named(name);
    if (name === undefined || action?.revert === undefined)
      return { seq, connector, method, outcome: "kept" };
    const toolCallId = codeCallId(run.id, seq);
    const request = { action, name, requestId: run.requestId, toolCallId };
    // The key of the call, so that nobody else undoes it a second time.
    const of = await ledgerKeyOf(request as never, { input: call.args, ctx: { toolCallId } } as never);
    const input = { of, input: call.args, output: call.result ?? null };
    const output = await actions.runConsented({
      name: revertName(name),
      input,
      requestId: run.requestId,
      toolCallId: revertCallId(of),
      consent: undefined,
      facts: factsOf(run),
      owner: run.requestId,
    });
    if (!isFailure(output)) return { seq, connector, method, outcome: "reverted" };
    return { seq, connector, method, outcome: "failed", message: output.error.message };
  }
}

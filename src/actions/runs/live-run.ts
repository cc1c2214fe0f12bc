import { progressLine } from "../declare/progress.ts";
import type { ActionContext } from "../declare/action-context.ts";
import type { Sample, SampleRequest } from "../declare/sample.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";

/** Progress and samples of one run. They end with it, also if its work goes on. */
export class LiveRun {
  readonly #host: Pick<ActionHost, "progress" | "sample">;
  readonly #request: ActionRequest;
  readonly #signal: AbortSignal;
  #isShown = false;
  #hasEnded = false;

  constructor(host: Pick<ActionHost, "progress" | "sample">, request: ActionRequest, signal: AbortSignal) {
    this.#host = host;
    this.#request = request;
    this.#signal = signal;
  }

  members(): Pick<ActionContext, "progress" | "sample"> {
    const sample = async (asked: SampleRequest): Promise<unknown> => {
      this.#signal.throwIfAborted();
      return this.#host.sample(this.#request, asked, this.#signal);
    };
    return {
      progress: (update) => {
        const line = this.#hasEnded ? undefined : progressLine(update);
        if (line === undefined) return;
        this.#isShown = true;
        this.#host.progress(this.#request, line);
      },
      sample: sample as Sample,
    };
  }

  end(): void {
    this.#hasEnded = true;
    if (this.#isShown) this.#host.progress(this.#request, undefined);
  }
}

/** The members of a context outside of `execute`: nothing is attached or shown. */
export function idleMembers(
  host: Pick<ActionHost, "progress" | "sample">,
  request: ActionRequest,
): Pick<ActionContext, "signal" | "attachReply" | "progress" | "sample"> {
  const signal = request.signal ?? new AbortController().signal;
  const idle = new LiveRun(host, request, signal);
  idle.end();
  return { signal, attachReply: () => {}, ...idle.members() };
}

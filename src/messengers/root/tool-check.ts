import type { ToolSet } from "ai";
import { ConfigurationError } from "../../core/errors.ts";
import { isThenable } from "../../core/is-thenable.ts";
import { toolProblem } from "../../turn/bot-tools.ts";

/**
 * Finds tools without anyone to run them, before a person asks for something. It lists the tools once per process,
 * because listing them may be expensive. If listing the tools needs a turn or takes time, they are checked when a turn
 * begins.
 */
export class ToolCheck {
  readonly #getTools: () => ToolSet | Promise<ToolSet>;
  #result: { readonly problem: ConfigurationError | undefined } | undefined;

  constructor(getTools: () => ToolSet | Promise<ToolSet>) {
    this.#getTools = getTools;
  }

  /** @throws {ConfigurationError} if there is such a tool, see `toolProblem` */
  run(): void {
    this.#result ??= { problem: this.#find() };
    if (this.#result.problem !== undefined) throw this.#result.problem;
  }

  #find(): ConfigurationError | undefined {
    try {
      const tools = this.#getTools();
      if (!isThenable(tools)) return toolProblem(tools);
      Promise.resolve(tools).catch(() => {
        // A turn lists the tools again, and reports the error then.
      });
      return undefined;
    } catch (error) {
      // Any other error may come from the missing turn.
      return error instanceof ConfigurationError ? error : undefined;
    }
  }
}

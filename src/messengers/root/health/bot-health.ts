import type { HealthProblem } from "./health-problem.ts";
import type { ToolSet } from "ai";
import { logBotFailure } from "../../../core/time/bot-code.ts";
import { errorCode, SwitchboardError, ConfigurationError } from "../../../core/base/errors.ts";
import type { Log } from "../../../core/base/log.ts";
import { noMessengers } from "../../declare/define-messengers.ts";
import type { DeclaredMessengers } from "../../declare/declared-messengers.ts";
import { isThenable } from "../../../core/base/is-thenable.ts";
import { toolProblem } from "../../../turn/tools/bot-tools.ts";

export interface BotHealthOptions {
  readonly log: Log;
  readonly messengers: Pick<DeclaredMessengers, "all">;
  readonly getModel: () => unknown;
  /** Rejects if a package of the model is missing. @default none */
  readonly checkModel?: () => Promise<void>;
  readonly getTools: () => ToolSet | Promise<ToolSet>;
  /** Further declarations of the bot. Each check throws if the bot cannot be used with them. @default none */
  readonly checks?: readonly { readonly method: string; run(): unknown }[];
}

/** Checks whether the declarations of the bot let it answer. */
export class BotHealth {
  readonly #options: BotHealthOptions;
  /** Listing the tools may be expensive, so they are listed once. */
  #tools: { readonly problem: ConfigurationError | undefined } | undefined;
  /** The newest problem of each method. */
  readonly #loggedCodes = new Map<string, string>();

  constructor(options: BotHealthOptions) {
    this.#options = options;
  }

  async problem(): Promise<HealthProblem | undefined> {
    return this.#declared() ?? this.#model();
  }

  /** Runs after `getModel` was called without an error. Each failed call logs its own line, so this one logs none. */
  async #model(): Promise<HealthProblem | undefined> {
    try {
      await this.#options.checkModel?.();
      return undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  #declared(): HealthProblem | undefined {
    const { checks = [], getModel, messengers } = this.#options;
    try {
      const declared = messengers.all();
      this.#logged("getModel", getModel);
      this.#logged("getTools", () => this.#checkTools());
      for (const check of checks) this.#logged(check.method, () => check.run());
      return declared.length === 0 ? problemOf(noMessengers()) : undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  /**
   * Finds tools without anyone to run them, before a person asks for something. If listing the tools needs a turn or
   * takes time, they are checked when a turn begins.
   *
   * @throws {ConfigurationError} if there is such a tool, see `toolProblem`
   */
  #checkTools(): void {
    this.#tools ??= { problem: this.#toolProblem() };
    if (this.#tools.problem !== undefined) throw this.#tools.problem;
  }

  #toolProblem(): ConfigurationError | undefined {
    try {
      const tools = this.#options.getTools();
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

  /** Runs a method of the bot and logs its error once. */
  #logged(method: string, body: () => unknown): void {
    try {
      body();
    } catch (error) {
      const { code } = problemOf(error);
      if (this.#loggedCodes.get(method) !== code) logBotFailure(this.#options.log, method, error);
      this.#loggedCodes.set(method, code);
      throw error;
    }
  }
}

function problemOf(error: unknown): HealthProblem {
  const isOurs = error instanceof SwitchboardError;
  return {
    status: "misconfigured",
    code: errorCode(error) ?? "bot-code-failed",
    message: isOurs ? error.message : BOT_CODE_FAILED,
  };
}

/** The error may be an adapter's, whose words are in no log (I10). */
const BOT_CODE_FAILED =
  "getMessengers() or getModel() of the bot threw. `npx switchboard doctor` checks the variables, and with DEBUG=1 the bot's log has the words of the error.";

import { logBotFailure } from "../core/bot-code.ts";
import { errorCode, SwitchboardError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { noMessengers } from "./define-messengers.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";
import type { RootRuntime } from "./root-runtime.ts";

/** Why the bot cannot answer messages now. */
export interface HealthProblem {
  /** `misconfigured`: its owner has to change something. `unavailable`: its machine has to. */
  readonly status: "misconfigured" | "unavailable";
  readonly code: string;
  /** What to do; words of ours only. */
  readonly message: string;
}

export interface BotHealthOptions {
  readonly log: Log;
  readonly definitions: () => readonly NormalizedMessengerDefinition[];
  readonly getModel: () => unknown;
  readonly root: () => Pick<RootRuntime, "problem">;
}

/** Whether the bot can answer: its declarations, then its storage and its platforms. */
export class BotHealth {
  readonly #options: BotHealthOptions;
  #loggedCode: string | undefined;

  constructor(options: BotHealthOptions) {
    this.#options = options;
  }

  async problem(): Promise<HealthProblem | undefined> {
    return this.#declared() ?? (await this.#options.root().problem());
  }

  #declared(): HealthProblem | undefined {
    const { definitions, getModel } = this.#options;
    try {
      const declared = definitions();
      this.#askForModel(getModel);
      return declared.length === 0 ? problemOf(noMessengers()) : undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  /** Logs what it throws, once; who declares the messengers logs that already. */
  #askForModel(getModel: () => unknown): void {
    try {
      getModel();
    } catch (error) {
      const { code } = problemOf(error);
      if (this.#loggedCode !== code) logBotFailure(this.#options.log, "getModel", error);
      this.#loggedCode = code;
      throw error;
    }
  }
}

function problemOf(error: unknown): HealthProblem {
  const isOurs = error instanceof SwitchboardError;
  return {
    status: "misconfigured",
    code: errorCode(error) ?? "bot-code-failed",
    message: isOurs ? error.message : "getMessengers() or getModel() of the bot threw; its log says more.",
  };
}

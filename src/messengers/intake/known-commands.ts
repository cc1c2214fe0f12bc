import { allCommands } from "../declare/commands.ts";
import type { ReadyCommands } from "../declare/commands.ts";
import type { BotHandlers } from "./bot-handlers.ts";
import type { OpenQuestions } from "./open-questions.ts";

/** The commands that people can use: the built-in ones, and the bot's own. The bot is asked for its own each time. */
export class KnownCommands {
  readonly #bot: Pick<BotHandlers, "commands" | "texts">;
  readonly #questions: Pick<OpenQuestions, "waitingIn"> | undefined;

  constructor(
    bot: Pick<BotHandlers, "commands" | "texts">,
    questions: Pick<OpenQuestions, "waitingIn"> | undefined,
  ) {
    this.#bot = bot;
    this.#questions = questions;
  }

  /** Throws what the bot's code throws. */
  all(): ReadyCommands {
    return allCommands(
      this.#bot.commands(),
      this.#bot.texts?.(),
      (event) => this.#questions?.waitingIn(event) ?? 0,
    );
  }

  /** Returns none if the bot's code throws: this may be the reason of earlier failures, which the log has named. */
  ifAny(): ReadyCommands {
    try {
      return this.all();
    } catch {
      return {};
    }
  }

  /** `true` also if the bot's code throws. The conversation asks the bot again, and logs the failure. */
  mayHave(name: string): boolean {
    try {
      return Object.hasOwn(this.all(), name);
    } catch {
      return true;
    }
  }
}

import { localText, sayIn } from "../../core/text/bot-texts.ts";
import type { BotTexts, Say } from "../../core/text/bot-texts.ts";
import type { Content } from "../../core/message/content.ts";
import type { PolicyText } from "../../core/chat/delivery.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import { inLanguage } from "../../core/text/local-text.ts";
import type { LocalText } from "../../core/text/local-text.ts";
import type { CommandEntry } from "../../core/chat/messenger.ts";
import type { MessengerContext } from "../../core/chat/messenger-context.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/** One command of a bot. */
export interface ThinkCommand {
  /** One line for `/help` and the menu. May be in several languages: `{ en: "Opening hours", de: "Öffnungszeiten" }`. */
  readonly description: LocalText;
  /**
   * Runs before the model, and beside a running turn. Returns the reply, `{ prompt }` to pass text to the model, or
   * nothing if it has used `reply` or wants to stay silent. May run again if the process dies before its reply is
   * stored. If it throws, the person reads the messenger's `errorResponseText`.
   */
  readonly handler: (context: CommandContext) => CommandResult | Promise<CommandResult>;
}

/** A reply (a text, or other content such as a card), a prompt for the model, or nothing. */
export type CommandResult = Content | { readonly prompt: string } | undefined | void;

export interface CommandContext {
  /** The text after the command. For `/start`, the payload of the link. */
  readonly args: string;
  readonly event: MessengerContext;
  /** Sends a message at once. May be called several times. Does nothing after the handler has ended. */
  reply(content: Content): void;
  /**
   * Does the same as the built-in `/stop`: ends the answer to this chat, or drops the messages that wait for one, and
   * shows `stoppedResponseText`. Returns false if there is nothing to stop.
   */
  readonly stop: () => boolean;
  /**
   * Does the same as the built-in `/new`: ends the answer to this chat. Later answers do not refer to anything from
   * before.
   */
  readonly beginAnew: () => void;
}

/** A built-in command in the bot's words. It does what it always does. */
export interface CommandWords {
  /** One line for `/help` and the menu. @default in English */
  readonly description?: LocalText;
  /**
   * `/start`: the greeting. `/help`: the line above the list. `/stop`: the reply if there is nothing to stop. `/new`: the
   * confirmation. @default in English
   */
  readonly text?: PolicyText;
  readonly handler?: undefined;
}

/**
 * The commands of a bot by name: lower case letters, digits and underscores, without the slash. A built-in command
 * without a handler keeps its own, with other words.
 */
export type ThinkCommands = Readonly<Record<string, ThinkCommand | CommandWords>>;

/** Commands that all have a handler. */
export type ReadyCommands = Readonly<Record<string, ThinkCommand>>;

/** The actions that commands can take on the conversation. */
export interface CommandHost {
  /**
   * Ends the running turn, if it answers the command's thread: several threads may share a conversation. The reply
   * itself then says that it was stopped. If no such turn is running, drops the messages that wait for one. Returns
   * false if there is nothing to stop.
   */
  stopAll(by: MessengerEvent): boolean;
  /** Ends the running turn, if it answers the command's thread. Later turns begin with an empty transcript. */
  startOver(by: MessengerEvent): void;
}

/** Returns the commands for a platform's menu. */
export function menuOf(own: ThinkCommands, texts: BotTexts = {}): CommandEntry[] {
  return Object.entries(allCommands(own, texts)).map(([name, { description }]) => ({ name, description }));
}

type BuiltInName = "start" | "help" | "stop" | "new";

/**
 * Returns `/start`, `/help`, `/stop` and `/new`, and the bot's own commands. A command of the bot with a handler replaces
 * a built-in one.
 *
 * @param waiting returns the number of requests of this chat that wait for a person's decision
 * @throws {ConfigurationError} `command-without-handler` if a command that is not built in has no handler,
 *   `command-name-invalid` if nobody can write its name
 */
export function allCommands(
  own: ThinkCommands,
  texts: BotTexts = {},
  waiting: (event: MessengerEvent) => number = () => 0,
): ReadyCommands {
  const commands = withWords(
    builtInCommands(own, texts, () => all, waiting),
    own,
  );
  const all = Object.fromEntries(Object.entries(commands).map(ready));
  return all;
}

/** Returns commands of Switchboard with those of the bot: replaced by a handler, or only described in other words. */
export function withWords(builtIn: ThinkCommands, own: ThinkCommands): ThinkCommands {
  const entries = Object.entries(own).map(([name, command]) => {
    const known = builtIn[name];
    if (command.handler !== undefined || known === undefined) return [name, command] as const;
    return [name, { ...known, description: command.description ?? known.description }] as const;
  });
  return { ...builtIn, ...Object.fromEntries(entries) };
}

function ready([name, command]: readonly [string, ThinkCommand | CommandWords]): [string, ThinkCommand] {
  if (!isWritable(name))
    throw new ConfigurationError(
      "command-name-invalid",
      `Nobody can write the command "${name.slice(0, 64)}" of getCommands(). Its name must be in lower case, without blanks and slashes.`,
    );
  if (command.handler !== undefined) return [name, command];
  throw new ConfigurationError(
    "command-without-handler",
    `The command /${name} of getCommands() has no handler. Only built-in commands may leave it out.`,
  );
}

/** Names are compared in lower case, and end at the first blank. */
function isWritable(name: string): boolean {
  return name !== "" && name === name.toLowerCase() && !/[\s/@]/.test(name);
}

function builtInCommands(
  own: ThinkCommands,
  texts: BotTexts,
  all: () => ReadyCommands,
  waiting: (event: MessengerEvent) => number,
): ReadyCommands {
  const sayTo = ({ event }: CommandContext): Say => sayIn(texts, event.author?.language);
  const words = (name: BuiltInName, command: CommandContext): string => {
    const { event } = command;
    const given = own[name];
    const text = given !== undefined && "text" in given ? given.text : undefined;
    const made = typeof text === "function" ? text({ locale: event.author?.language, event }) : text;
    return made ?? sayTo(command)(`${name}Text`);
  };
  /** Waiting requests survive every command. Undefined if there is none. */
  const waitingWords = (command: CommandContext): string | undefined => {
    const count = waiting(command.event);
    if (count === 0) return undefined;
    return sayTo(command)(count === 1 ? "oneRequestWaits" : "requestsWait", { count });
  };
  return {
    start: { description: localText(texts, "startCommand"), handler: (command) => words("start", command) },
    help: {
      description: localText(texts, "helpCommand"),
      handler: (command) => helpText(words("help", command), all(), command.event.author?.language),
    },
    stop: {
      description: localText(texts, "stopCommand"),
      handler: (command) => {
        const isStopped = command.stop();
        const waits = waitingWords(command);
        if (waits === undefined) return isStopped ? undefined : words("stop", command);
        return `${waits} ${sayTo(command)("stopKeepsRequests")}`;
      },
    },
    new: {
      description: localText(texts, "newCommand"),
      handler: (command) => {
        command.beginAnew();
        const waits = waitingWords(command);
        const begun = words("new", command);
        return waits === undefined ? begun : `${begun} ${waits} ${sayTo(command)("newKeepsRequests")}`;
      },
    },
  };
}

function helpText(words: string, commands: ReadyCommands, language: string | undefined): string {
  const lines = Object.entries(commands).map(
    ([name, { description }]) => `/${name} – ${inLanguage(description, language)}`,
  );
  return [words, "", ...lines].join("  \n");
}

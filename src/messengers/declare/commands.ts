import type { Content } from "../../core/content.ts";
import type { CommandEntry } from "../../core/messenger.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";

/** One command of a bot. */
export interface ThinkCommand {
  /** One line for `/help`. */
  readonly description: string;
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

/** The commands of a bot by name: lower case letters, digits and underscores, without the slash. */
export type ThinkCommands = Readonly<Record<string, ThinkCommand>>;

/** The actions that commands can take on the conversation. */
export interface CommandHost {
  /**
   * Ends the running turn, if it answers the command's thread: several threads may share a conversation. The reply
   * itself then says that it was stopped. Returns false if no such turn is running.
   */
  stopRunning(by: MessengerEvent): boolean;
  /** Ends the running turn, as `stopRunning` does. If none is running, drops the messages that wait for one. */
  stopAll(by: MessengerEvent): boolean;
  openSession(): void;
}

/** Returns the commands for a platform's menu. */
export function menuOf(own: ThinkCommands): CommandEntry[] {
  const all = { ...builtInCommands(() => own), ...own };
  return Object.entries(all).map(([name, { description }]) => ({ name, description }));
}

const GREETING = "Hello! Send me a message and I'll answer. /help shows what else I can do.";
const NOTHING_TO_STOP = "There's nothing to stop right now.";
const NEW_SESSION = "Let's start over. I won't refer to anything from before.";

/**
 * Returns `/start`, `/help`, `/stop` and `/new`. A bot may define its own instead.
 *
 * @param waiting returns the number of requests of this chat that wait for a person's decision
 */
export function builtInCommands(
  all: () => ThinkCommands,
  waiting: (event: MessengerEvent) => number = () => 0,
): ThinkCommands {
  return {
    start: { description: "Say hello", handler: () => GREETING },
    help: { description: "Show the commands", handler: () => helpText(all()) },
    stop: {
      description: "Stop the answer that is being written",
      handler: (command) => {
        const isStopped = command.stop();
        const waits = waitingWords(waiting(command.event));
        if (waits === undefined) return isStopped ? undefined : NOTHING_TO_STOP;
        return `${waits} /stop takes no request back; the button on its card does.`;
      },
    },
    new: {
      description: "Start a new conversation",
      handler: (command) => {
        command.beginAnew();
        const waits = waitingWords(waiting(command.event));
        return waits === undefined
          ? NEW_SESSION
          : `${NEW_SESSION} ${waits} I'll tell you here what comes of it.`;
      },
    },
  };
}

/** Waiting requests survive every command. Undefined if there is none. */
function waitingWords(count: number): string | undefined {
  if (count === 0) return undefined;
  return count === 1
    ? "One request still waits for a decision."
    : `${count} requests still wait for a decision.`;
}

function helpText(commands: ThinkCommands): string {
  const lines = Object.entries(commands).map(([name, command]) => `/${name} – ${command.description}`);
  return ["Just write to me in your own words. I also know these commands:", "", ...lines].join("  \n");
}

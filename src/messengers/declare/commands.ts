import type { Content } from "../../core/content.ts";
import type { CommandEntry } from "../../core/messenger.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";

/** One command of a bot. */
export interface ThinkCommand {
  /** One line for `/help`. */
  readonly description: string;
  /**
   * Runs before the model and beside a running turn. Returns the reply, or `{ prompt }` to hand text to the model, or
   * nothing when it has used `reply` or wants to stay silent. May run again when the process dies before its reply is
   * stored. A throw shows the messenger's `errorResponseText`.
   */
  readonly handler: (context: CommandContext) => CommandResult | Promise<CommandResult>;
}

/** A reply (a text, or other content such as a card), a prompt for the model, or nothing. */
export type CommandResult = Content | { readonly prompt: string } | undefined | void;

export interface CommandContext {
  /** What the person wrote after the command; for `/start` the payload of the link. */
  readonly args: string;
  readonly event: MessengerContext;
  /** Sends a message at once; may be called several times, and does nothing after the handler has ended. */
  reply(content: Content): void;
  /**
   * Does what the built-in `/stop` does: ends the answer to this chat, or drops the messages that wait for one, and says
   * so with `stoppedResponseText`. `false` when there is nothing to stop.
   */
  readonly stop: () => boolean;
  /** Does what the built-in `/new` does: ends the answer to this chat, and later ones look back at nothing. */
  readonly beginAnew: () => void;
}

/** The commands of a bot by name: lower case letters, digits and underscores, without the slash. */
export type ThinkCommands = Readonly<Record<string, ThinkCommand>>;

/** What commands can do to the conversation. */
export interface CommandHost {
  /**
   * Ends the running turn, if it answers the thread of the command: several may share one agent. `false` when there is
   * none. It says so in the reply itself.
   */
  stopRunning(by: MessengerEvent): boolean;
  /** The same; where no turn runs, messages that wait for one are not answered either. */
  stop(by: MessengerEvent): boolean;
  openSession(): void;
}

/** The commands that a person can choose from, as a menu shows them. */
export function menuOf(own: ThinkCommands): CommandEntry[] {
  const all = { ...builtInCommands(() => own), ...own };
  return Object.entries(all).map(([name, { description }]) => ({ name, description }));
}

const GREETING = "Hello! Send me a message and I'll answer. /help shows what else I can do.";
const NOTHING_TO_STOP = "There's nothing to stop right now.";
const NEW_SESSION = "Let's start over. I won't refer to anything from before.";

/** `/start`, `/help`, `/stop` and `/new`; a bot may define its own of the same name instead. */
export function builtInCommands(all: () => ThinkCommands): ThinkCommands {
  return {
    start: { description: "Say hello", handler: () => GREETING },
    help: { description: "Show the commands", handler: () => helpText(all()) },
    stop: {
      description: "Stop the answer that is being written",
      handler: (command) => (command.stop() ? undefined : NOTHING_TO_STOP),
    },
    new: {
      description: "Start a new conversation",
      handler: (command) => {
        command.beginAnew();
        return NEW_SESSION;
      },
    },
  };
}

function helpText(commands: ThinkCommands): string {
  const lines = Object.entries(commands).map(([name, command]) => `/${name} – ${command.description}`);
  return ["Just write to me in your own words. I also know these commands:", "", ...lines].join("  \n");
}

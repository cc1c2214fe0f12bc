import { BOT_CODE_LIMIT_MS, logBotFailure } from "../../core/time/bot-code.ts";
import { checkContent, hasBytes } from "../../core/message/check-content.ts";
import type { Content } from "../../core/message/content.ts";
import type { DeliveryPolicy } from "../../core/chat/delivery.ts";
import { InvalidInputError } from "../../core/base/errors.ts";
import { isThenable } from "../../core/base/is-thenable.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { MessengerCommand, MessengerEvent } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { CommandResult } from "../declare/commands.ts";
import type { ReadyContent } from "../replies/cards.ts";
import { safeText } from "../declare/texts.ts";
import type { KnownCommands } from "./known-commands.ts";
import type { IntakeParts } from "./intake-parts.ts";

interface CommandParts extends IntakeParts {
  readonly commands: KnownCommands;
}

/** The result of a command. */
export interface CommandOutcome {
  /** The text for the model, if there is one. */
  readonly prompt: string | undefined;
  /** Sends the content that the handler returned. Undefined if it returned none. */
  readonly post?: () => void;
}

/**
 * Runs a command's handler. Never throws and never rejects: if the handler throws, the person reads `errorResponseText`.
 * The returned content is not sent yet, so that it is stored together with the end of the command.
 *
 * `post` sends a message of the command. `index` numbers its messages, so that each is recognized after a crash.
 */
export function runCommand(
  command: MessengerCommand,
  event: MessengerEvent,
  policy: DeliveryPolicy | undefined,
  options: CommandParts,
  post: (index: number, content: ReadyContent) => void,
): CommandOutcome | Promise<CommandOutcome> {
  const log = options.log.with(eventFields(event.messengerId, event));
  let replies = 0;
  let hasEnded = false;
  const reply = (content: Content): void => {
    if (hasEnded || (typeof content === "string" && content.trim() === "")) return;
    const checked = checkContent(content);
    if (checked.kind === "files" || hasBytes(checked))
      throw new InvalidInputError(
        "content-invalid",
        "reply() takes no files, and no bytes of a picture: return the content, or await say().",
      );
    post(replies, checked);
    replies += 1;
  };
  const outcome = (result: CommandResult): CommandOutcome | Promise<CommandOutcome> => {
    hasEnded = true;
    if (isContent(result)) {
      if (typeof result === "string" && result.trim() === "") return { prompt: undefined };
      const content = checkContent(result);
      const ready = (what: ReadyContent): CommandOutcome => ({
        prompt: undefined,
        post: () => post(replies, what),
      });
      return content.kind === "files" || hasBytes(content)
        ? options.cards.prepareOrTell(event.messengerId, content).then(ready)
        : ready(content);
    }
    const prompt = result?.prompt;
    if (prompt !== undefined && typeof prompt !== "string")
      throw new TypeError(`Expected a text, got ${typeof prompt}.`);
    return { prompt };
  };
  const failed = (error: unknown): CommandOutcome | Promise<CommandOutcome> => {
    logBotFailure(log, `/${command.name}`, error);
    return outcome(safeText(policy, "errorResponseText", event, log));
  };
  try {
    const handler = options.commands.all()[command.name]?.handler;
    const { answers: host, deps } = options;
    const stop = (): boolean => host.stopAll(event);
    const beginAnew = (): void => host.startOver(event);
    const { args } = command;
    const running = options.contexts.inContext(event, (served) =>
      handler?.({ args, event: served, reply, stop, beginAnew }),
    );
    const ended = isThenable(running)
      ? withinTime(deps.clock, BOT_CODE_LIMIT_MS, running, `/${command.name}`).then(outcome)
      : outcome(running);
    return ended instanceof Promise ? ended.catch(failed) : ended;
  } catch (error) {
    return failed(error);
  }
}

function isContent(result: CommandResult): result is Content {
  if (typeof result === "string") return true;
  return typeof result === "object" && result !== null && "kind" in result;
}

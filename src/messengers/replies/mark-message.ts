import type { ChatTarget } from "../../core/chat-target.ts";
import { InvalidInputError } from "../../core/errors.ts";
import type { Mark } from "../../core/mark.ts";
import { addressFor } from "./say.ts";
import type { SayHost } from "./say.ts";

const MAX_ID_LENGTH = 200;
const MAX_EMOJI_LENGTH = 64;

/**
 * Reacts to a message, pins one, or takes that back, for bot code. Returns the id of its receipt when that is stored.
 *
 * @throws {SwitchboardError} with the code of a refused target, or `target-missing`
 * @throws {InvalidInputError} `mark-invalid`, `reactions-unsupported` or `pins-unsupported`
 */
export async function markMessage(host: SayHost, mark: Mark, to: ChatTarget | undefined): Promise<string> {
  checkMark(mark);
  const id = `mark:${host.newId()}`;
  host.delivery.mark({ id, address: await addressFor(host, to), mark });
  return id;
}

function checkMark(mark: Mark): void {
  const { messageId } = mark;
  const isNewest = mark.kind === "unpin" && messageId === undefined;
  if (!isNewest && !isText(messageId, MAX_ID_LENGTH))
    throw new InvalidInputError("mark-invalid", "The id of a message is a text that is not empty.");
  if (mark.kind === "reaction" && mark.emoji !== undefined && !isText(mark.emoji, MAX_EMOJI_LENGTH))
    throw new InvalidInputError(
      "mark-invalid",
      "A reaction is one emoji, or undefined to take the bot's reaction back.",
    );
}

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value !== "" && value.length <= most;
}

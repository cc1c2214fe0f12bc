import { startTyping } from "../calls/start-typing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { Reply } from "../outbox/reply.ts";
import { modeOf } from "./mode.ts";

/**
 * Shows a line below the text of a running reply, where messages or drafts can be changed as often as one likes. Where
 * they cannot, the typing indicator is shown again until the line ends.
 */
export function showProgress(context: DeliveryContext, reply: Reply, line: string | undefined): void {
  const surface = context.surfaces.find(reply.record.address);
  if (surface === undefined) return;
  const mode = modeOf(reply, surface);
  // A message that was posted for the line alone goes if the answer stays empty.
  const canPost = surface.capabilities.remove || reply.mayHaveMessage;
  if (mode === "draft" || (mode === "edit" && canPost)) {
    if (reply.progress !== line) reply.progress = line;
    return;
  }
  if (line === undefined) {
    if (reply.isWorking && reply.mayHaveMessage) reply.stopTyping();
  } else if (!reply.isWorking) startTyping(context, reply, { evenBelowText: true });
  reply.isWorking = line !== undefined;
}

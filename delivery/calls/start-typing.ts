import type { Surface } from "../../src/core/chat/surface.ts";
import { logFailure, penalize } from "./delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import type { Reply } from "../outbox/reply.ts";
import { showTyping } from "./typing-indicator.ts";

/**
 * Shows the typing indicator until a reply's first text is sent. Does nothing if a message of the reply is visible or
 * may be: the search for a lost message comes first, and needs the chat's calls.
 *
 * @param evenBelowText shows it also below a message
 */
export function startTyping(
  context: DeliveryContext,
  reply: Reply,
  { evenBelowText = false }: { readonly evenBelowText?: boolean } = {},
): void {
  if (reply.isFinal || (reply.mayHaveMessage && !evenBelowText)) return;
  reply.stopTyping();
  const { address, policy, id } = reply.record;
  if (policy.typing === false) return;
  let surface: Surface;
  try {
    surface = context.surfaces.of(address.messengerId);
  } catch {
    // The messenger is not declared any more. The lane ends the reply.
    return;
  }
  if (!surface.capabilities.typing) return;
  reply.stopTyping = showTyping({
    clock: context.deps.clock,
    budget: context.budget,
    surface,
    address,
    callTimeoutMs: callTimeoutMs(policy, surface),
    onFailure: (failure) => {
      logFailure(context, { method: "typing", address, replyId: id, attempts: 1 }, failure);
      void penalize(context, address, failure);
    },
  });
}

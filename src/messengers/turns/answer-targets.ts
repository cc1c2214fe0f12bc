import type { ChatTarget, Resolution } from "../../core/chat/chat-target.ts";
import { SwitchboardError } from "../../core/base/errors.ts";
import type { Address } from "../../core/chat/surface.ts";

/** A chat that shows an answer: a target, as `say` takes it, or an address from `getTurn()?.answerTo`. */
export type AnswerTarget = Address | ChatTarget;

/**
 * Finds the addresses of targets, in their order. Addresses stay as they are.
 *
 * @throws {SwitchboardError} with the code of a refused target
 */
export async function addressesOf(
  answerTo: AnswerTarget | readonly AnswerTarget[] | undefined,
  root: { resolveTarget(to: ChatTarget): Promise<Resolution> },
): Promise<Address[]> {
  const targets: readonly AnswerTarget[] = answerTo === undefined ? [] : [answerTo].flat();
  const addresses: Address[] = [];
  for (const target of targets) {
    if (isAddress(target)) {
      addresses.push(target);
      continue;
    }
    const resolution = await root.resolveTarget(target);
    if (resolution.kind === "refused") throw new SwitchboardError(resolution.code, resolution.message);
    addresses.push(resolution.address);
  }
  return addresses;
}

/** Takes everything that is no target for an address. A value that is neither is refused later, with its place. */
function isAddress(target: AnswerTarget): target is Address {
  return typeof target === "object" && !("messenger" in target || "conversation" in target);
}

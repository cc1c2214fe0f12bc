import type { StoredMessage } from "../../chats/world.ts";
import type { CallParameters } from "../call-parameters.ts";

/** Reads whether a message is silent and protected. */
export function mannerOf(parameters: CallParameters): Pick<StoredMessage, "silent" | "isProtected"> {
  return {
    ...(parameters.boolean("disable_notification") && { silent: true }),
    ...(parameters.boolean("protect_content") && { isProtected: true }),
  };
}

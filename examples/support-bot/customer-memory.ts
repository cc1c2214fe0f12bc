import type { Session } from "switchboard";

/** Customers' sizes and addresses, in all of their chats. Each customer is asked before one is kept. */
export function customerMemory(session: Session): Session {
  return session.withContext("customer", {
    scope: "person",
    consent: true,
    description: "Sizes and addresses of the customer. Keep one only when the customer wants it.",
  });
}

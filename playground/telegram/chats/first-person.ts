import type { Simulator } from "../control/contract.ts";

/** The page opens on a chat, so that the first thing to do is to write. Who is there already stays alone. */
export function addFirstPerson(simulator: Simulator): void {
  if (simulator.users().length === 0) simulator.privateChat(simulator.addUser({ first_name: "Alex" }));
}

import type { Simulator } from "../control/contract.ts";

/** Adds a person with a private chat, so that the page opens on a chat. Does nothing if there are people already. */
export function addFirstPerson(simulator: Simulator): void {
  if (simulator.users().length === 0) simulator.privateChat(simulator.addUser({ first_name: "Alex" }));
}

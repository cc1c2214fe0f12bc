import type { BotObject } from "./bot-object.ts";

const objects = new WeakMap<object, BotObject>();

/** Keeps the object of an agent, for the classes that its class extends. */
export function keepObject(agent: object, object: BotObject): void {
  objects.set(agent, object);
}

export function objectOf(agent: object): BotObject {
  const found = objects.get(agent);
  if (found === undefined) throw new Error("The agent is used before it is put together");
  return found;
}

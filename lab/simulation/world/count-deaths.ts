import type { GateObject } from "./gate-object.ts";
import { gateName } from "../plan/route-places.ts";
import type { ThreadObject } from "./thread-object.ts";

/** Deaths of one side of a conversation and a gate in another object, for the proof that they happen. */
export interface Deaths {
  /** Gates that died while a conversation that asks them lived, and of these while its model was at work. */
  gates: number;
  gatesBusy: number;
  /** Conversations that died with their model at work while the gate of one of their chats lived. */
  speakers: number;
}

export interface Crash {
  readonly threads: readonly ThreadObject[];
  /** The gates that are objects of their own, by chat. */
  readonly gates: ReadonlyMap<string, GateObject>;
  readonly isHit: (thread: ThreadObject) => boolean;
  readonly isGateHit: (chatId: string) => boolean;
}

/** Adds what is about to die. */
export function countDeaths(deaths: Deaths, { threads, gates, isHit, isGateHit }: Crash): void {
  const living = threads.filter((thread) => thread.life !== undefined && !isHit(thread));
  const dying = threads.filter((thread) => thread.life !== undefined && isHit(thread));
  const dyingGates = [
    ...[...gates].flatMap(([chatId, gate]) => (gate.isAlive && isGateHit(chatId) ? chatId : [])),
    ...dying.flatMap(({ gateOfChat }) => gateOfChat ?? []),
  ];
  for (const chatId of dyingGates) {
    const speakers = living.filter(({ places }) => places.some((place) => place.chatId === chatId));
    if (speakers.length === 0) continue;
    deaths.gates += 1;
    if (speakers.some(({ isBusy }) => isBusy)) deaths.gatesBusy += 1;
  }
  const isGateLiving = (chatId: string): boolean => {
    const gate = gates.get(chatId);
    if (gate !== undefined) return gate.isAlive && !isGateHit(chatId);
    return living.some(({ name }) => name === gateName(chatId));
  };
  for (const { isBusy, places } of dying) {
    if (isBusy && places.some(({ chatId }) => isGateLiving(chatId))) deaths.speakers += 1;
  }
}

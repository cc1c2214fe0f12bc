import { gateName } from "../plan/route-places.ts";
import type { SimulatedObject } from "./simulated-object.ts";

/** Deaths of either a conversation or its gate in another object, as proof that they occur. */
export interface Deaths {
  /**
   * Gates that died while a conversation that uses them lived, and how many of these died while its model was working.
   */
  gates: number;
  gatesBusy: number;
  /** Conversations that died while their model was working and the gate of one of their chats lived. */
  speakers: number;
}

export interface Crash {
  readonly threads: readonly SimulatedObject[];
  readonly isHit: (thread: SimulatedObject) => boolean;
}

/** Counts the objects that are about to die. */
export function countDeaths(deaths: Deaths, { threads, isHit }: Crash): void {
  const living = threads.filter((thread) => thread.life !== undefined && !isHit(thread));
  const dying = threads.filter((thread) => thread.life !== undefined && isHit(thread));
  const dyingGates = dying.flatMap(({ gateOfChat }) => gateOfChat ?? []);
  for (const chatId of dyingGates) {
    const speakers = living.filter(({ places }) => places.some((place) => place.chatId === chatId));
    if (speakers.length === 0) continue;
    deaths.gates += 1;
    if (speakers.some(({ isBusy }) => isBusy)) deaths.gatesBusy += 1;
  }
  const isGateLiving = (chatId: string): boolean => living.some(({ name }) => name === gateName(chatId));
  for (const { isBusy, places } of dying) {
    if (isBusy && places.some(({ chatId }) => isGateLiving(chatId))) deaths.speakers += 1;
  }
}

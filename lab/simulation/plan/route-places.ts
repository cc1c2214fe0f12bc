import { threadConversationName } from "../../../src/messengers/declare/conversation-name.ts";
import type { Place, Plan, PlanItem } from "./plan.ts";
import type { Random } from "../../support/random.ts";

/** Name of the root's object. It is also the conversation if a messenger answers with `self`. */
export const ROOT = "root";

type Routed = Pick<Plan, "places" | "routing" | "objects"> & {
  /** Additional messages to a place. */
  readonly visits: readonly PlanItem[];
};

/** The share of plans in which a conversation follows a person, and in which the root answers. */
const BY_PERSON = 0.15;
const BY_SELF = 0.05;

/** Draws the object of each place. A conversation that does not belong to one place usually speaks in several. */
export function routePlaces(
  random: Random,
  places: readonly Place[],
  pool: readonly [Place, ...Place[]],
): Routed {
  const drawn = random.next();
  if (drawn >= BY_PERSON + BY_SELF) {
    return { places, routing: "thread", objects: places.map(({ threadId }) => threadId), visits: [] };
  }
  const hasOneChat = new Set(places.map(({ chatId }) => chatId)).size === 1;
  const isMore = hasOneChat && random.chance(places.length === 1 ? 0.9 : 0.5);
  const other = isMore ? otherPlace(random, places, pool) : undefined;
  const all = other === undefined ? places : [...places, other];
  const visits = other === undefined ? [] : visit(random, all.length - 1);
  const isByPerson = drawn < BY_PERSON;
  // A second person speaks to the bot in one of the places now and then.
  const second = isByPerson && random.chance(0.15) ? random.int(0, all.length - 1) : undefined;
  const objects = all.map((_place, index) => (isByPerson ? `person:${index === second ? "8" : "7"}` : ROOT));
  return { places: all, routing: isByPerson ? "person" : "self", objects, visits };
}

function otherPlace(
  random: Random,
  places: readonly Place[],
  pool: readonly [Place, ...Place[]],
): Place | undefined {
  const [first, ...rest] = pool.filter((place) => !places.includes(place));
  return first === undefined ? undefined : random.pick([first, ...rest]);
}

function visit(random: Random, place: number): PlanItem[] {
  const items: PlanItem[] = [];
  let at = random.int(0, 4_000);
  const messages = random.int(1, 3);
  for (let index = 0; index < messages; index += 1) {
    items.push({ kind: "message", at, place, token: `m5${index}` });
    at += random.int(300, 9_000);
  }
  if (random.chance(0.15)) {
    items.push({ kind: "command", at: random.int(0, at), place, token: "c50", name: "stop" });
  }
  return items;
}

/** The name of an object as the bot's other objects call it. */
export function objectName(name: string): string {
  return name === ROOT ? ROOT : `${ROOT}/${threadConversationName("sim", name)}`;
}

/** The name of the object that is the gate of a chat: that of its thread without a topic. */
export function gateName(chatId: string): string {
  return `sim:${chatId}`;
}

/** Whether the gate of a place's chat is in another object than its conversation. */
export function hasGateElsewhere(place: Place, object: string): boolean {
  return object !== gateName(place.chatId);
}

import type { Grant } from "../../../src/core/chat/gate.ts";
import type { Plan, Routing } from "./plan.ts";
import { gateName } from "./route-places.ts";

/** Plans whose conversations speak in chats that have another object: the topics of a forum, or by `Routing`. */
export type TrafficKind = "forum" | Exclude<Routing, "thread">;

/** Calls between objects in runs of one kind, and the cost of another division of the work. */
export interface Traffic {
  seeds: number;
  platformCalls: number;
  /** Calls from a conversation to a gate in another object: questions before a call, and of these told to wait. */
  questions: number;
  waits: number;
  /** News, penalties and searches. */
  reports: number;
  /** Calls from a gate to the root in another object. */
  rootCalls: number;
  /** Text that conversations gave to their deliveries for a chat that has another object, and its batches. */
  textUpdates: number;
  textBatches: number;
}

export type TrafficByKind = Record<TrafficKind, Traffic>;

/** Text that follows within this time goes with the one before it. */
const BATCH_MS = 500;

export function noTraffic(): Traffic {
  return {
    seeds: 0,
    platformCalls: 0,
    questions: 0,
    waits: 0,
    reports: 0,
    rootCalls: 0,
    textUpdates: 0,
    textBatches: 0,
  };
}

export function noTrafficByKind(): TrafficByKind {
  return { forum: noTraffic(), person: noTraffic(), self: noTraffic() };
}

export function addTraffic(sum: Traffic, more: Traffic): void {
  for (const key of Object.keys(sum) as (keyof Traffic)[]) sum[key] += more[key];
}

/** Counts the calls between objects in one run, for chats whose gate is in another object than the conversation. */
export class TrafficCount {
  readonly traffic: Traffic = { ...noTraffic(), seeds: 1 };
  readonly #now: () => number;
  readonly #speakers: ReadonlySet<string>;
  readonly #gates: ReadonlySet<string>;
  /** Start of each open batch of a conversation's text for a chat. */
  readonly #batches = new Map<string, number>();

  constructor(now: () => number, { places, objects }: Pick<Plan, "places" | "objects">) {
    this.#now = now;
    const remote = places
      .map(({ chatId }, index) => ({ chatId, conversation: objects[index] ?? "" }))
      .filter(({ chatId, conversation }) => conversation !== gateName(chatId));
    this.#speakers = new Set(remote.map(({ chatId, conversation }) => `${conversation}|${chatId}`));
    this.#gates = new Set(remote.map(({ chatId }) => gateName(chatId)));
  }

  /** Counts a call of a conversation to the platform. */
  call(conversation: string, chatId: string): void {
    if (this.#speakers.has(`${conversation}|${chatId}`)) this.traffic.platformCalls += 1;
  }

  /** Counts a call of an object to another one: of a conversation to a gate, or of a gate to the root. */
  asked(caller: string, method: string): void {
    if (method === "gate.acquire") this.traffic.questions += 1;
    else if (method.startsWith("gate.")) this.traffic.reports += 1;
    else if (method.startsWith("budget.") && this.#gates.has(caller)) this.traffic.rootCalls += 1;
  }

  answered(method: string, answer: unknown): void {
    if (method === "gate.acquire" && (answer as Grant).kind === "wait") this.traffic.waits += 1;
  }

  /** Counts text, or its end, that a conversation gives to its delivery. */
  text(conversation: string, chatId: string): void {
    const key = `${conversation}|${chatId}`;
    if (!this.#speakers.has(key)) return;
    this.traffic.textUpdates += 1;
    const now = this.#now();
    const begunAt = this.#batches.get(key);
    if (begunAt !== undefined && now < begunAt + BATCH_MS) return;
    this.#batches.set(key, now);
    this.traffic.textBatches += 1;
  }
}

/** A table of all kinds. */
export function describeTraffic(byKind: TrafficByKind): string {
  const kinds = Object.keys(byKind) as TrafficKind[];
  const rows: readonly (readonly [string, keyof Traffic])[] = [
    ["seeds", "seeds"],
    ["calls to the platform", "platformCalls"],
    ["conversation asks gate", "questions"],
    ["of these told to wait", "waits"],
    ["conversation tells gate", "reports"],
    ["gate asks root", "rootCalls"],
    ["texts to the delivery", "textUpdates"],
    ["batches of these in 500 ms", "textBatches"],
  ];
  const line = (name: string, values: readonly string[]): string =>
    `${name.padEnd(34)} ${values.map((value) => value.padStart(10)).join("")}`;
  return [
    line("between objects", kinds),
    ...rows.map(([name, key]) =>
      line(
        name,
        kinds.map((kind) => String(byKind[kind][key])),
      ),
    ),
  ].join("\n");
}

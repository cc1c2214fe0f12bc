import { z } from "zod";
import type { Content } from "../core/content.ts";
import { storedMessages, storedMetadata } from "../core/stored-messages.ts";
import { parseAddress } from "../core/stored-address.ts";
import { parseCost } from "../scheduled-runs/stored-cost.ts";
import type { Address } from "../core/surface.ts";
import type { TurnCost } from "../core/turn-cost.ts";
import type { BroadcastState, BroadcastWork, TargetState } from "../core/broadcast.ts";
import type { SubscriberKey } from "./subscriber-store.ts";

/** The content is checked again where it is sent. */
const contentSchema = z
  .union([z.string(), z.looseObject({ kind: z.string() })])
  .transform((content) => content as Content);

const workSchema = z.discriminatedUnion("kind", [
  z.looseObject({
    kind: z.literal("content"),
    content: contentSchema,
    informModel: z.boolean(),
    noteKind: z.string().optional(),
    ignoresQuietHours: z.boolean().optional(),
    isAnswer: z.boolean().optional(),
    options: z.looseObject({ silent: z.boolean().optional(), protect: z.boolean().optional() }).optional(),
  }),
  z.looseObject({ kind: z.literal("prompt"), messages: storedMessages, metadata: storedMetadata.optional() }),
]);

const countsSchema = z.record(z.string(), z.number());
const idsSchema = z.array(z.string());
const keySchema = z.object({ messengerId: z.string(), threadId: z.string() });

/** Why a broadcast ends before all its targets had their turn. */
export type Closing = "cancelled" | "expired";
/** Numbers of targets, by the code of their outcome. */
export type Counts = Readonly<z.infer<typeof countsSchema>>;

/** A broadcast, as the root stores it. */
export interface StoredBroadcast {
  readonly seq: number;
  readonly id: string;
  readonly state: BroadcastState;
  /** The reason for `closing`, and the state that follows. */
  readonly closing: Closing | undefined;
  /** Whether the targets that a cut slice may have handed over were asked, since it is closing. */
  readonly isChecked: boolean;
  readonly hash: string;
  /** Undefined once it has ended. */
  readonly work: BroadcastWork | undefined;
  /** Whether a target must still be subscribed when its turn comes. */
  readonly isSubscribed: boolean;
  /** How far the targets are collected. */
  readonly cursor: string | undefined;
  readonly afterKey: string;
  readonly total: number;
  readonly sent: number;
  readonly failures: Counts;
  readonly skips: Counts;
  /** Tokens and money of prompts that have ended. */
  readonly usage: TurnCost | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | undefined;
}

/** A chat that a broadcast is for, with its outcome. */
export interface StoredTarget {
  readonly key: string;
  readonly state: TargetState;
  readonly conversation: string | undefined;
  readonly address: Address | undefined;
  readonly code: string | undefined;
  readonly deliveryId: string | undefined;
  readonly messageIds: readonly string[];
  /** Number of calls whose outcome was not known. An `open` target without any waits for the end of quiet hours. */
  readonly tries: number;
}

/** A row of `broadcast_v1`. */
export type BroadcastRow = {
  seq: number;
  id: string;
  state: BroadcastState;
  closing: Closing | null;
  is_checked: number;
  hash: string;
  work: string | null;
  is_subscribed: number;
  cursor: string | null;
  after_key: string;
  total: number;
  sent: number;
  failures: string;
  skips: string;
  usage: string | null;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
};

/** A row of `broadcast_target_v1`. */
export type TargetRow = {
  key: string;
  state: TargetState;
  conversation: string | null;
  address: string | null;
  code: string | null;
  delivery_id: string | null;
  message_ids: string | null;
  tries: number;
};

/** Returns the sum of all counters. */
export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the counters with one more for a code. */
export function plusOne(counts: Counts, code = "unknown"): Counts {
  return { ...counts, [code]: (counts[code] ?? 0) + 1 };
}

/** Reads a broadcast from its row. */
export function broadcastOf(row: BroadcastRow): StoredBroadcast {
  return {
    seq: row.seq,
    id: row.id,
    state: row.state,
    closing: row.closing ?? undefined,
    isChecked: row.is_checked === 1,
    hash: row.hash,
    work: row.work === null ? undefined : workSchema.parse(JSON.parse(row.work)),
    isSubscribed: row.is_subscribed === 1,
    cursor: row.cursor ?? undefined,
    afterKey: row.after_key,
    total: row.total,
    sent: row.sent,
    failures: countsSchema.parse(JSON.parse(row.failures)),
    skips: countsSchema.parse(JSON.parse(row.skips)),
    usage: parseCost(row.usage),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at ?? undefined,
  };
}

/** Reads a target from its row. */
export function targetOf(row: TargetRow): StoredTarget {
  return {
    key: row.key,
    state: row.state,
    conversation: row.conversation ?? undefined,
    address: row.address === null ? undefined : parseAddress(row.address),
    code: row.code ?? undefined,
    deliveryId: row.delivery_id ?? undefined,
    messageIds: row.message_ids === null ? [] : idsSchema.parse(JSON.parse(row.message_ids)),
    tries: row.tries,
  };
}

/** Reads a place in the order of subscribers, as a broadcast stores it and as a caller gives it back. */
export function parseSubscriberKey(json: string): SubscriberKey {
  return keySchema.parse(JSON.parse(json));
}

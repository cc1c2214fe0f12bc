import { z } from "zod";
import type { Content } from "../core/message/content.ts";
import { storedMessages, storedMetadata } from "../inbox/stored-messages.ts";
import { parseAddress } from "../core/chat/stored-address.ts";
import { parseCost } from "../scheduled-runs/stored-cost.ts";
import { added, defineTable, encoded, flag, integer, json, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";
import type { BroadcastState, BroadcastWork, TargetState } from "../core/turn/broadcast.ts";
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

/**
 * Broadcasts of the root. A target writes one row when it is collected and one when it ends, and two more if its
 * outcome is not known at once. An `open` target without tries waits for the end of its chat's quiet hours, and its
 * conversation does not have the message.
 */
export const BROADCASTS = defineTable(
  "broadcast_v1",
  {
    seq: integer("PRIMARY KEY AUTOINCREMENT"),
    id: text("NOT NULL UNIQUE"),
    state: text<BroadcastState>("NOT NULL"),
    /** The reason for `closing`, and the state that follows. */
    closing: text<Closing>(),
    /** Whether the targets that a cut slice may have handed over were asked, since it is closing. */
    isChecked: flag("NOT NULL DEFAULT 0"),
    hash: text("NOT NULL"),
    /** Undefined once it has ended. */
    work: json<BroadcastWork>(workSchema)(),
    /** Whether a target must still be subscribed when its turn comes. */
    isSubscribed: flag("NOT NULL"),
    /** How far the targets are collected. */
    cursor: text(),
    /** How far the broadcast has come: all targets up to this key were handed over. */
    afterKey: text("NOT NULL"),
    total: integer("NOT NULL"),
    sent: integer("NOT NULL"),
    failures: json<Counts>(countsSchema)("NOT NULL"),
    skips: json<Counts>(countsSchema)("NOT NULL"),
    ranAt: integer("NOT NULL"),
    createdAt: integer("NOT NULL"),
    expiresAt: integer("NOT NULL"),
    endedAt: integer(),
    /** Tokens and money of prompts that have ended. */
    usage: added(encoded(parseCost)()),
  },
  "STRICT",
  { broadcast_open_v1: "(ran_at) WHERE ended_at IS NULL" },
);
export const TARGETS = defineTable(
  "broadcast_target_v1",
  {
    broadcast: integer("PRIMARY KEY"),
    key: text("PRIMARY KEY"),
    state: text<TargetState>("NOT NULL"),
    conversation: text(),
    address: encoded(parseAddress)(),
    code: text(),
    deliveryId: text(),
    messageIds: json<readonly string[]>(idsSchema)(),
    /** Number of calls whose outcome was not known. An `open` target without any waits for the end of quiet hours. */
    tries: integer("NOT NULL"),
    askAt: integer(),
  },
  "STRICT, WITHOUT ROWID",
  { broadcast_target_open_v1: "(broadcast, ask_at) WHERE state = 'open'" },
);

/** A broadcast, as the root stores it. */
export type StoredBroadcast = Omit<RowOf<typeof BROADCASTS>, "ranAt">;

/** A chat that a broadcast is for, with its outcome. */
export interface StoredTarget extends Omit<RowOf<typeof TARGETS>, "broadcast" | "messageIds" | "askAt"> {
  readonly messageIds: readonly string[];
}

/** Returns the sum of all counters. */
export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the counters with one more for a code. */
export function plusOne(counts: Counts, code = "unknown"): Counts {
  return { ...counts, [code]: (counts[code] ?? 0) + 1 };
}

/** Reads a place in the order of subscribers, as a broadcast stores it and as a caller gives it back. */
export function parseSubscriberKey(json: string): SubscriberKey {
  return keySchema.parse(JSON.parse(json));
}

import { z } from "zod";
import type { Approval, ApprovalState } from "../rules/approval.ts";
import { addressSchema, personSchema } from "../../core/stored-address.ts";

const stateSchema = z.enum([
  "waiting",
  "approved",
  "running",
  "done",
  "failed",
  "rejected",
  "expired",
  "withdrawn",
  "replaced",
  "void",
]) satisfies z.ZodType<ApprovalState>;

const riskSchema = z.enum(["low", "medium", "high"]);

const kindSchema = z.enum(["approval-gated", "durable-pause"]);

const approversSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("people"),
    userIds: z.array(z.string()),
    names: z.array(z.string()).optional(),
  }),
  z.object({ kind: z.literal("requester") }),
  z.object({ kind: z.literal("anyone") }),
  z.object({
    kind: z.literal("permissions"),
    permissions: z.array(z.string()),
    userIds: z.array(z.string()).optional(),
    names: z.array(z.string()).optional(),
  }),
  z.object({ kind: z.literal("function") }),
]);

export const deciderSchema = z.object({
  surface: z.enum(["chat", "http", "api", "grant"]),
  messengerId: z.string().optional(),
  grantId: z.string().optional(),
  granted: z.enum(["request", "hour", "always", "schedule"]).optional(),
  person: personSchema.optional(),
  isTyped: z.boolean().optional(),
  name: z.string().optional(),
  isAdmin: z.boolean().optional(),
});

/** A row of `approval_v1`. */
export type ApprovalRow = {
  id: string;
  action: string;
  tool_call_id: string;
  request_id: string;
  ledger_key: string;
  input: string;
  input_hash: string;
  summary: string;
  risk: string | null;
  kind: string;
  permissions: string;
  sensitive: string;
  requester: string | null;
  people: string;
  origin: string | null;
  approvers: string;
  requester_may_approve: number;
  created_at: number;
  expires_at: number;
  state: string;
  decided_at: number | null;
  decided_by: string | null;
  reason: string | null;
  outcome: string | null;
  ended_at: number | null;
  drawn_state: string | null;
  is_told: number;
  details: string | null;
  progress: string | null;
  remind_at: number | null;
};

export const scheduleSchema = z.object({ keeper: z.string(), taskId: z.string(), revision: z.string() });

/** Facts about a question that are only read with it. */
const detailsSchema = z.object({
  isTool: z.boolean().optional(),
  isInline: z.boolean().optional(),
  messageId: z.string().optional(),
  askedIn: z.array(z.object({ address: addressSchema, who: z.string().optional() })).optional(),
  rootRequest: z.string().optional(),
  offer: z.object({ scope: z.string(), words: z.string(), evenHighRisk: z.boolean().optional() }).optional(),
  modelWords: z.string().optional(),
  schedule: scheduleSchema.optional(),
  cardOf: z.string().optional(),
  channel: z.string().optional(),
  summaryReads: z.array(z.string()).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  preview: z
    .union([
      z.string(),
      z.array(
        z.object({
          label: z.string(),
          from: z.union([z.string(), z.number()]).optional(),
          to: z.union([z.string(), z.number()]),
        }),
      ),
    ])
    .optional(),
});

/** Facts that change after the question and are only read with it. */
const progressSchema = z.object({
  unreached: z.array(z.object({ who: z.string(), why: z.enum(["never-wrote", "gone"]) })).optional(),
  isExplained: z.boolean().optional(),
  successor: z.string().optional(),
  isCardTaken: z.boolean().optional(),
  broughtTo: z.array(addressSchema).optional(),
});

export function progressOf({ broughtTo, isCardTaken, isExplained, successor, unreached }: Approval): string {
  const progress: z.input<typeof progressSchema> = {
    isExplained,
    successor,
    unreached: [...unreached],
    ...(isCardTaken === true && { isCardTaken }),
    ...(broughtTo !== undefined && { broughtTo: [...broughtTo] }),
  };
  return JSON.stringify(progress);
}

export function detailsOf({
  askedIn,
  cardOf,
  channel,
  isInline,
  isTool,
  labels,
  messageId,
  modelWords,
  offer,
  preview,
  rootRequest,
  schedule,
  summaryReads,
}: Approval): string {
  const details: z.input<typeof detailsSchema> = {
    askedIn: [...askedIn],
    messageId,
    isTool,
    ...(isInline && { isInline }),
    rootRequest,
    offer,
    modelWords,
    schedule,
    cardOf,
    channel,
    labels,
    summaryReads: summaryReads && [...summaryReads],
    preview: typeof preview === "object" ? [...preview] : preview,
  };
  return JSON.stringify(details);
}

export function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export function approvalOf(stored: ApprovalRow): Approval {
  const details = detailsSchema.parse(JSON.parse(stored.details ?? "{}"));
  const progress = progressSchema.parse(JSON.parse(stored.progress ?? "{}"));
  return {
    id: stored.id,
    action: stored.action,
    toolCallId: stored.tool_call_id,
    requestId: stored.request_id,
    ledgerKey: stored.ledger_key,
    input: z.json().parse(JSON.parse(stored.input)),
    inputHash: stored.input_hash,
    summary: stored.summary,
    risk: stored.risk === null ? undefined : riskSchema.parse(stored.risk),
    kind: kindSchema.parse(stored.kind),
    permissions: z.array(z.string()).parse(JSON.parse(stored.permissions)),
    sensitive: z.array(z.string()).parse(JSON.parse(stored.sensitive)),
    people: z.array(personSchema).parse(JSON.parse(stored.people)),
    requester: stored.requester === null ? undefined : personSchema.parse(JSON.parse(stored.requester)),
    origin: stored.origin === null ? undefined : addressSchema.parse(JSON.parse(stored.origin)),
    approvers: approversSchema.parse(JSON.parse(stored.approvers)),
    requesterMayApprove: stored.requester_may_approve === 1,
    createdAt: stored.created_at,
    expiresAt: stored.expires_at,
    state: stateSchema.parse(stored.state),
    decidedAt: stored.decided_at ?? undefined,
    decidedBy: stored.decided_by === null ? undefined : deciderSchema.parse(JSON.parse(stored.decided_by)),
    reason: stored.reason ?? undefined,
    outcome: stored.outcome === null ? undefined : z.json().parse(JSON.parse(stored.outcome)),
    endedAt: stored.ended_at ?? undefined,
    drawnState: stored.drawn_state === null ? undefined : stateSchema.parse(stored.drawn_state),
    isTold: stored.is_told === 1,
    isTool: details.isTool ?? false,
    isInline: details.isInline ?? false,
    messageId: details.messageId,
    rootRequest: details.rootRequest ?? stored.request_id,
    offer: details.offer,
    modelWords: details.modelWords,
    preview: details.preview,
    summaryReads: details.summaryReads,
    labels: details.labels,
    isExplained: progress.isExplained ?? false,
    successor: progress.successor,
    isCardTaken: progress.isCardTaken ?? false,
    schedule: details.schedule,
    cardOf: details.cardOf,
    channel: details.channel,
    broughtTo: progress.broughtTo,
    unreached: progress.unreached ?? [],
    askedIn: (details.askedIn ?? []).map(({ address, who }) => ({ address, who })),
    remindAt: stored.remind_at ?? undefined,
  };
}

import { z } from "zod";
import type { Json } from "../../core/message/content.ts";
import { added, checked, defineTable, flag, integer, json, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";
import type { FormState } from "../../forms/form.ts";
import type { Approval, ApprovalState } from "../rules/approval.ts";
import { addressSchema, personSchema } from "../../core/chat/stored-address.ts";

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

/** A sum of a grant, as it is stored. */
export const sumSchema = z.object({ value: z.number(), currency: z.string() });

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

export const scheduleSchema = z.object({
  keeper: z.string(),
  taskId: z.string(),
  revision: z.string(),
  agent: z.string().optional(),
  asksItself: z.boolean().optional(),
});

/** Facts about a question that are only read with it. */
const detailsSchema = z.object({
  isTool: z.boolean().optional(),
  isInline: z.boolean().optional(),
  messageId: z.string().optional(),
  askedIn: z.array(z.object({ address: addressSchema, who: z.string().optional() })).optional(),
  rootRequest: z.string().optional(),
  offer: z
    .object({
      scope: z.string(),
      words: z.string(),
      evenHighRisk: z.boolean().optional(),
      calls: z.number().optional(),
      sum: sumSchema.optional(),
      budget: z.string().optional(),
    })
    .optional(),
  modelWords: z.string().optional(),
  schedule: scheduleSchema.optional(),
  cardOf: z.string().optional(),
  channel: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  outside: z
    .object({
      caller: z.object({ id: z.string(), name: z.string() }),
      canAsk: z.boolean(),
      owner: z.object({ messenger: z.string(), userId: z.string() }).optional(),
      payer: z.object({ messengerId: z.string(), chatId: z.string(), userId: z.string() }),
    })
    .optional(),
  quorum: z.number().optional(),
  escalateTo: approversSchema.optional(),
  isEditable: z.boolean().optional(),
  edited: z.object({ by: z.array(deciderSchema), original: z.json() }).optional(),
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

const formStateSchema = z.object({
  at: z.union([
    z.object({ kind: z.literal("field"), index: z.number(), page: z.number() }),
    z.object({ kind: z.literal("change"), page: z.number() }),
    z.object({ kind: z.enum(["summary", "sent", "cancelled"]) }),
  ]),
  values: z.record(z.string(), z.json()),
  skipped: z.array(z.string()),
  problem: z.string().exactOptional(),
}) satisfies z.ZodType<FormState>;

/** Facts that change after the question and are only read with it. */
const progressSchema = z.object({
  unreached: z.array(z.object({ who: z.string(), why: z.enum(["never-wrote", "gone"]) })).optional(),
  isExplained: z.boolean().optional(),
  successor: z.string().optional(),
  isCardTaken: z.boolean().optional(),
  isGivenBack: z.boolean().optional(),
  asksPeople: z.boolean().optional(),
  agreed: z.array(deciderSchema).optional(),
  escalatedAt: z.number().optional(),
  handedTo: z.object({ to: z.string(), by: z.string() }).optional(),
  broughtTo: z.array(addressSchema).optional(),
  together: z.string().optional(),
  edits: z.number().optional(),
  edit: z
    .object({ number: z.number(), by: deciderSchema, address: addressSchema, form: formStateSchema })
    .optional(),
});

const value = json<Json>(z.json());
const strings = json<readonly string[]>(z.array(z.string()));

export const APPROVALS = defineTable(
  "approval_v1",
  {
    id: text("PRIMARY KEY"),
    seq: integer("NOT NULL"),
    action: text("NOT NULL"),
    toolCallId: text("NOT NULL"),
    requestId: text("NOT NULL"),
    ledgerKey: text("NOT NULL"),
    input: value("NOT NULL"),
    inputHash: text("NOT NULL"),
    summary: text("NOT NULL"),
    risk: checked(riskSchema)(),
    kind: checked(kindSchema)("NOT NULL"),
    permissions: strings("NOT NULL"),
    sensitive: strings("NOT NULL"),
    requester: json(personSchema)(),
    people: json<Approval["people"]>(z.array(personSchema))("NOT NULL"),
    origin: json(addressSchema)(),
    approvers: json<Approval["approvers"]>(approversSchema)("NOT NULL"),
    requesterMayApprove: flag("NOT NULL"),
    createdAt: integer("NOT NULL"),
    expiresAt: integer("NOT NULL"),
    state: checked(stateSchema)("NOT NULL"),
    decidedAt: integer(),
    decidedBy: json(deciderSchema)(),
    reason: text(),
    outcome: value(),
    endedAt: integer(),
    drawnState: checked(stateSchema)(),
    isTold: flag("NOT NULL"),
    /** Whether work is left: decide, run, draw or tell. */
    isUnfinished: flag("NOT NULL"),
    details: added(json(detailsSchema)()),
    progress: added(json(progressSchema)()),
    remindAt: added(integer()),
    escalateAt: added(integer()),
  },
  "STRICT, WITHOUT ROWID",
  {
    approval_v1_unfinished: "(seq) WHERE is_unfinished = 1",
    approval_v1_seq: "(seq)",
    approval_v1_call: "(request_id, tool_call_id)",
    approval_v1_use: "(seq) WHERE state = 'approved' AND is_unfinished = 0",
  },
);

type Row = RowOf<typeof APPROVALS>;

/** The fields of an approval that have no column of their own. A new one is a line of its schema. */
const FACTS = { ...detailsSchema.shape, ...progressSchema.shape };
const ABSENT = Object.fromEntries(Object.keys(FACTS).map((name) => [name, undefined])) as {
  readonly [Name in keyof typeof FACTS]: undefined;
};

export function detailsOf(approval: Approval): Row["details"] {
  return detailsSchema.parse(approval);
}

export function progressOf(approval: Approval): Row["progress"] {
  return progressSchema.parse(approval);
}

export function approvalOf({
  details = {},
  isUnfinished: _isUnfinished,
  progress = {},
  seq: _seq,
  ...row
}: Row): Approval {
  return {
    ...ABSENT,
    ...row,
    ...details,
    ...progress,
    isTool: details.isTool ?? false,
    isInline: details.isInline ?? false,
    rootRequest: details.rootRequest ?? row.requestId,
    isExplained: progress.isExplained ?? false,
    isCardTaken: progress.isCardTaken ?? false,
    isGivenBack: progress.isGivenBack ?? false,
    asksPeople: progress.asksPeople ?? false,
    unreached: progress.unreached ?? [],
    askedIn: (details.askedIn ?? []).map(({ address, who }) => ({ address, who })),
  };
}

import { z } from "zod";
import type { EditPress, FacePress, HandPress } from "../rules/approval-card.ts";
import type { AllPress, ApartPress } from "../rules/together-card.ts";
import type { ShowPress } from "./approval-overview.ts";
import type { EndGrantPress } from "./grant-overview.ts";

const pressedSchema = z.object({ approval: z.string(), inputHash: z.string() });

/** The payload of a button that turns an approval's card. */
const faceSchema = pressedSchema.extend({
  face: z.enum(["first", "more", "hand"]),
}) satisfies z.ZodType<FacePress>;

/** The payload of a button of an approval's card that decides. */
const pressSchema = pressedSchema.extend({
  decision: z.enum(["approve", "reject", "change", "withdraw", "retract"]),
  grant: z.enum(["request", "hour", "always", "schedule"]).optional(),
});

/** The payload of a button that hands the decision over. */
const handSchema = pressedSchema.extend({ handTo: z.string() }) satisfies z.ZodType<HandPress>;

/** The payload of a button that opens a form for the input. */
const editSchema = pressedSchema.extend({ edit: z.literal(true) }) satisfies z.ZodType<EditPress>;

/** The payload of a button of such a form. The form reads it. */
export const formPressSchema = z.object({ form: z.json() });

/** The payload of a button that decides about all questions of a card. */
const allSchema = pressedSchema.extend({
  all: z.enum(["approve", "reject"]),
  of: z.array(pressedSchema),
}) satisfies z.ZodType<AllPress>;

/** The payload of a button that gives each question of a card its own. */
const apartSchema = pressedSchema.extend({ apart: z.literal(true) }) satisfies z.ZodType<ApartPress>;

/** The payload of a button of an approval's card. */
export const cardPressSchema = z.union([
  faceSchema,
  handSchema,
  editSchema,
  allSchema,
  apartSchema,
  pressSchema,
]);

/** The payload of a button under `/grants`. */
export const endSchema = z.strictObject({
  endGrant: z.string(),
  of: z.string().optional(),
}) satisfies z.ZodType<EndGrantPress>;
/** The payload of a button under `/approvals`. */
export const showSchema = z.strictObject({
  showApproval: z.string(),
  of: z.string().optional(),
  chat: z.string().optional(),
}) satisfies z.ZodType<ShowPress>;

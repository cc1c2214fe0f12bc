import { z } from "zod";

/** The question that a press is about, and the only input for which the press counts. */
const pressedSchema = z.object({ approval: z.string(), inputHash: z.string() });
export type PressedApproval = z.infer<typeof pressedSchema>;

/** The payload of a button that turns an approval's card, which changes nothing else. */
const faceSchema = pressedSchema.extend({ face: z.enum(["first", "more", "hand"]) });

/** The payload of a button of an approval's card that decides. */
const decisionSchema = pressedSchema.extend({
  decision: z.enum(["approve", "reject", "change", "withdraw", "retract"]),
  /** How long the person agrees to more calls like this one. */
  grant: z.enum(["request", "hour", "always", "schedule"]).optional(),
});

/** The payload of a button that hands the decision over. */
const handSchema = pressedSchema.extend({ handTo: z.string() });

/** The payload of a button that opens a form for the input. */
const editSchema = pressedSchema.extend({ edit: z.literal(true) });

/** The payload of a button of such a form. The form reads it. */
export const formPressSchema = z.object({ form: z.json() });

/** The payload of a button that decides about all questions of a card that wait, with the inputs that it shows. */
const allSchema = pressedSchema.extend({ all: z.enum(["approve", "reject"]), of: z.array(pressedSchema) });

/** The payload of a button that gives each question of a card its own. */
const apartSchema = pressedSchema.extend({ apart: z.literal(true) });

/** The payload of a button of an approval's card. */
export const cardPressSchema = z.union([
  faceSchema,
  handSchema,
  editSchema,
  allSchema,
  apartSchema,
  decisionSchema,
]);
export type ApprovalPress = z.infer<typeof cardPressSchema>;

/** The payload of a button under `/grants`. */
export const endSchema = z.strictObject({
  endGrant: z.string(),
  /** The conversation of the grant. @default this one */
  of: z.string().optional(),
});
export type EndGrantPress = z.infer<typeof endSchema>;

/** The payload of a button under `/approvals`. */
export const showSchema = z.strictObject({
  showApproval: z.string(),
  /** The conversation that asked. @default this one */
  of: z.string().optional(),
  /** Title of the chat that asked. */
  chat: z.string().optional(),
});
export type ShowPress = z.infer<typeof showSchema>;

import { z } from "zod";
import type { ApprovalReport, IndexedApproval } from "../rules/approval-index.ts";

/** The facts that the index uses. All others are for dashboards, and stay as they are. */
const indexedSchema = z
  .looseObject({
    executionId: z.string(),
    state: z.string(),
    createdAt: z.number(),
    endedAt: z.number().optional(),
  })
  .transform((approval) => approval as unknown as IndexedApproval);

const reportSchema = z.object({
  approval: indexedSchema,
  keys: z.array(z.string()),
  grantKeys: z.array(z.string()).optional(),
  isGivenBack: z.boolean().optional(),
});

const placeSchema = z.object({ createdAt: z.number(), id: z.string() });

/** Reads an approval of the root's index, as it is stored. */
export function parseIndexed(json: string): IndexedApproval {
  return indexedSchema.parse(JSON.parse(json));
}

/** Reads a report to the root, as it is stored. */
export function parseReport(json: string): ApprovalReport {
  return reportSchema.parse(JSON.parse(json));
}

/** Reads a place in the order of the index, as a caller gives it back. */
export function parsePlace(json: string): { readonly createdAt: number; readonly id: string } {
  return placeSchema.parse(JSON.parse(json));
}

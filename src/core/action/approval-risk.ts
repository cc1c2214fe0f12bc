/** How much harm an action may do, for the person who decides about it. */
export type ApprovalRisk = "low" | "medium" | "high";

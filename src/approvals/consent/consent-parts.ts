import type { ApprovalHost } from "../rules/approval-host.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";
import type { Deciders } from "./deciders.ts";
import type { Grants } from "./grants.ts";

/** The parts that all rules of a conversation's approvals work with. */
export interface ConsentParts {
  readonly host: ApprovalHost;
  readonly stored: StoredApprovals;
  readonly grants: Grants;
  readonly deciders: Deciders;
}

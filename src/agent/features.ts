import type { AgentToolsFeature } from "../agent-tools/agent-tools-feature.ts";
import { ApprovalsFeature } from "../approvals/approvals-feature.ts";
import { approvalRoutes } from "../approvals/root/approval-routes.ts";
import { BroadcastsFeature } from "../broadcasts/broadcasts-feature.ts";
import type { Feature, FeatureKind } from "../feature/feature.ts";
import type { FeatureRoutes } from "../feature/feature-routes.ts";
import { importedFeatures } from "../feature/imported-feature.ts";
import { HooksFeature } from "../hooks/hooks-feature.ts";
import { QuestionsFeature } from "../questions/questions-feature.ts";
import { SchedulesFeature } from "../schedules/schedules-feature.ts";
import { submissionRoutes } from "../submissions/submission-routes.ts";
import { SubmissionsFeature } from "../submissions/submissions-feature.ts";
import type { AgentMethods } from "./agent-methods.ts";

export const SUBMISSIONS = kind("submissions", SubmissionsFeature, submissionRoutes);
export const BROADCASTS = kind("broadcasts", BroadcastsFeature);
export const SCHEDULES = kind("schedules", SchedulesFeature);
export const APPROVALS = kind("approvals", ApprovalsFeature, approvalRoutes);
export const QUESTIONS = kind("questions", QuestionsFeature);
export const HOOKS = kind("hooks", HooksFeature);

/** Only in bots that import `switchboard/agent-tools`. */
export const AGENT_TOOLS = { name: "agent-tools" } as FeatureKind<AgentToolsFeature>;

export type AnyFeature = FeatureKind<Feature, AgentMethods>;

/** The features of a bot. Commands are listed in this order, and requests are offered in it. */
export const FEATURES: readonly AnyFeature[] = [
  SUBMISSIONS,
  BROADCASTS,
  SCHEDULES,
  APPROVALS,
  QUESTIONS,
  HOOKS,
];

const lists = new WeakMap<object, readonly AnyFeature[]>();

/**
 * Returns the features of a bot's class, with those that it imports.
 *
 * @throws {ConfigurationError} `feature-not-imported`
 */
export function featuresOf(agentClass: object): readonly AnyFeature[] {
  return [...(lists.get(agentClass) ?? FEATURES), ...importedFeatures(agentClass)];
}

/** Gives a bot's class another list of features. For tests. */
export function setFeatures(agentClass: object, features: readonly AnyFeature[]): void {
  lists.set(agentClass, features);
}

function kind<Kind extends Feature, Host>(
  name: string,
  create: new (host: Host) => Kind,
  routes?: FeatureRoutes,
): { readonly name: string; readonly routes: FeatureRoutes | undefined; create(host: Host): Kind } {
  return { name, routes, create: (host) => new create(host) };
}

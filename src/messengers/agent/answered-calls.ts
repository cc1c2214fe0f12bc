import type { ActionLedger } from "../../actions/ledger.ts";
import type { ChatGate } from "../../core/gate.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { RootRuntime } from "../root/root-runtime.ts";
import type { ApprovalIndexCalls } from "../root/approval-calls.ts";
import type { SubmissionCalls } from "./submission-calls.ts";
import type { AgentActions } from "./agent-actions.ts";
import type { BroadcastCalls } from "../root/broadcast-calls.ts";
import type { InnerCalls } from "./inner-calls.ts";
import type { PersonZoneStore, Schedules } from "../../schedules/index.ts";
import type { ScheduledTurns } from "./scheduled-turns.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

/** The parts of an object that answer calls of other objects. Each is created when it is needed first. */
export interface AnsweringParts {
  readonly gate: () => ChatGate;
  readonly budget: () => RootBudget;
  readonly root: () => RootRuntime;
  readonly thread: () => Pick<ThreadRuntime, "hasEvent">;
  readonly ledger: () => ActionLedger;
  readonly submissions: () => SubmissionCalls;
  readonly approvals: () => ApprovalIndexCalls;
  readonly actions: () => Pick<AgentActions, "decideFor" | "lookAt" | "desk">;
  readonly broadcasts: () => BroadcastCalls;
  readonly takeBroadcast: InnerCalls["takeBroadcast"];
  readonly scheduledTurns: () => ScheduledTurns;
  readonly decideExecution: InnerCalls["decideExecution"];
  readonly schedules: () => Pick<Schedules, "nudge">;
  readonly zones: () => PersonZoneStore;
  readonly now: () => number;
  readonly healthProblem: InnerCalls["healthProblem"];
  readonly healthWarnings: InnerCalls["healthWarnings"];
  readonly describeBot: InnerCalls["describeBot"];
  readonly metrics: InnerCalls["metrics"];
  readonly receive: InnerCalls["receiveEvents"];
}

/** Returns the calls that an object answers, as a root and as a conversation. */
export function answeredCalls(host: AnsweringParts): InnerCalls {
  return {
    acquire: (...asked) => host.gate().acquire(...asked),
    penalize: (...asked) => host.gate().penalize(...asked),
    report: (...asked) => host.gate().report(...asked),
    unclaimed: (...asked) => host.gate().unclaimed(...asked),
    noteCard: (...told) => host.gate().noteCard(...told),
    findCard: (...asked) => host.gate().findCard(...asked),
    claimMessage: (...asked) => host.gate().claimMessage(...asked),
    lend: (...asked) => host.budget().lend(...asked),
    tellSent: (...asked) => host.budget().tellSent(...asked),
    seenIds: (...asked) => host.budget().seenIds(...asked),
    healthProblem: () => host.healthProblem(),
    healthWarnings: () => host.healthWarnings(),
    describeBot: () => host.describeBot(),
    metrics: () => host.metrics(),
    chatMoved: async (...asked) => host.root().chatMoved(...asked),
    identity: (...asked) => host.root().identity(...asked),
    noteUsage: async (...told) => host.root().noteUsage(...told),
    takeQuestion: async (...asked) => host.root().takeQuestion(...asked),
    reportAccess: async (messengerId, refusedWith) => {
      if (refusedWith === undefined) host.root().access.works(messengerId);
      else host.root().access.refused(messengerId, refusedWith);
    },
    chatGone: async (...asked) => host.root().chatGone(...asked),
    resolveTarget: async (to) => host.root().resolveTarget(to),
    findSentFile: (file) => host.root().fileIds.findSentFile(file),
    noteSentFile: (...told) => host.root().fileIds.noteSentFile(...told),
    forgetSentFile: (...told) => host.root().fileIds.forgetSentFile(...told),
    routeEvent: (...asked) => host.root().route(...asked),
    receiveEvents: (...asked) => host.receive(...asked),
    takeSubmission: (...submitted) => host.submissions().submitMessages(...submitted),
    inspectSubmissionOf: (id) => host.submissions().wait(id, { timeoutMs: 0 }),
    cancelSubmissionOf: (id) => host.submissions().cancel(id),
    noteApproval: (report) => host.approvals().noteApproval(report),
    approvalHints: (viewer) => host.approvals().approvalHints(viewer),
    grantPlaces: (viewer) => host.approvals().grantPlaces(viewer),
    lookAtGrants: async (...asked) => host.actions().desk.grants.look(...asked),
    endGrant: async (...asked) => host.actions().desk.grants.end(...asked),
    lookAtApprovals: (...asked) => host.actions().lookAt(...asked),
    bringApproval: (...asked) => host.actions().desk.bring(...asked),
    waitingApprovals: (filter) => host.approvals().waitingApprovals(filter),
    findApproval: (id) => host.approvals().findApproval(id),
    decideAnywhere: (...decided) => host.approvals().decideAnywhere(...decided),
    decideExecution: (...decided) => host.decideExecution(...decided),
    readApprovals: async (ids) => host.actions().desk.outside.read(ids),
    decideApproval: (...decided) => host.actions().decideFor(...decided),
    takeBroadcast: (request) => host.takeBroadcast(request),
    startBroadcast: (request) => host.broadcasts().startBroadcast(request),
    getBroadcast: (id) => host.broadcasts().getBroadcast(id),
    listBroadcasts: (limit) => host.broadcasts().listBroadcasts(limit),
    broadcastReceipts: (...asked) => host.broadcasts().broadcastReceipts(...asked),
    cancelBroadcast: (id) => host.broadcasts().cancelBroadcast(id),
    setSubscribed: (...told) => host.broadcasts().setSubscribed(...told),
    listSubscribers: (filter) => host.broadcasts().listSubscribers(filter),
    locateTarget: async (to) => host.root().places.locate(to),
    submitScheduled: (request) => host.scheduledTurns().submit(request),
    reportScheduled: (id) => host.scheduledTurns().report(id),
    zoneOfPerson: async (person) => host.zones().get(person),
    rememberZone: async (person, zone) => host.zones().set(person, zone, host.now()),
    nudgeOccurrence: async (key) => host.schedules().nudge(key),
    claimAction: async (request) => host.ledger().claim(request),
    lookAtAction: async (...asked) => host.ledger().look(...asked),
    endAction: async (...told) => host.ledger().end(...told),
    hasEvent: async (...asked) => host.thread().hasEvent(...asked),
  };
}

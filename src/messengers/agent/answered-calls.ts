import type { ChatGate } from "../../core/gate.ts";
import type { AgentActions } from "./agent-actions.ts";
import type { BotRoot } from "./bot-root.ts";
import type { BroadcastPart } from "./broadcast-part.ts";
import type { ExecutionCalls } from "./execution-calls.ts";
import type { InnerCalls } from "./inner-calls.ts";
import type { ScheduleDesk } from "./schedule-desk.ts";
import type { ScheduledTurns } from "./scheduled-turns.ts";
import type { SubmissionCalls } from "./submission-calls.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

/** The parts of an object that answer calls of other objects. Each is created when it is needed first. */
export interface AnsweringParts {
  readonly root: BotRoot;
  readonly gate: ChatGate;
  readonly thread: Pick<ThreadRuntime, "hasEvent">;
  readonly actions: AgentActions;
  readonly submissions: SubmissionCalls;
  readonly executions: ExecutionCalls;
  readonly broadcasts: BroadcastPart;
  readonly schedules: ScheduleDesk;
  readonly scheduledTurns: ScheduledTurns;
  readonly receive: InnerCalls["receiveEvents"];
}

/** Returns the calls that an object answers, as a root and as a conversation. */
export function answeredCalls(host: AnsweringParts): InnerCalls {
  return {
    acquire: (...asked) => host.gate.acquire(...asked),
    penalize: (...asked) => host.gate.penalize(...asked),
    report: (...asked) => host.gate.report(...asked),
    unclaimed: (...asked) => host.gate.unclaimed(...asked),
    noteCard: (...told) => host.gate.noteCard(...told),
    findCard: (...asked) => host.gate.findCard(...asked),
    claimMessage: (...asked) => host.gate.claimMessage(...asked),
    lend: (...asked) => host.root.budget.lend(...asked),
    tellSent: (...asked) => host.root.budget.tellSent(...asked),
    seenIds: (...asked) => host.root.budget.seenIds(...asked),
    healthProblem: () => host.root.health.problem(),
    healthWarnings: async () => host.root.warnings(),
    describeBot: async () => host.root.describe(),
    metrics: () => host.root.figures(),
    chatMoved: async (...asked) => host.root.runtime.chatMoved(...asked),
    identity: (...asked) => host.root.runtime.identity(...asked),
    noteUsage: async (...told) => host.root.runtime.noteUsage(...told),
    takeQuestion: async (...asked) => host.root.runtime.takeQuestion(...asked),
    reportAccess: async (messengerId, refusedWith) => {
      if (refusedWith === undefined) host.root.runtime.access.works(messengerId);
      else host.root.runtime.access.refused(messengerId, refusedWith);
    },
    chatGone: async (...asked) => host.root.runtime.chatGone(...asked),
    resolveTarget: async (to) => host.root.runtime.resolveTarget(to),
    findSentFile: (file) => host.root.runtime.fileIds.findSentFile(file),
    noteSentFile: (...told) => host.root.runtime.fileIds.noteSentFile(...told),
    forgetSentFile: (...told) => host.root.runtime.fileIds.forgetSentFile(...told),
    routeEvent: (...asked) => host.root.runtime.route(...asked),
    receiveEvents: (...asked) => host.receive(...asked),
    takeSubmission: (...submitted) => host.submissions.submitMessages(...submitted),
    inspectSubmissionOf: (id) => host.submissions.wait(id, { timeoutMs: 0 }),
    cancelSubmissionOf: (id) => host.submissions.cancel(id),
    noteApproval: (report) => host.root.approvals.noteApproval(report),
    approvalHints: (viewer) => host.root.approvals.approvalHints(viewer),
    grantPlaces: (viewer) => host.root.approvals.grantPlaces(viewer),
    lookAtGrants: async (...asked) => host.actions.desk.grants.look(...asked),
    endGrant: async (...asked) => host.actions.desk.grants.end(...asked),
    lookAtApprovals: (...asked) => host.actions.lookAt(...asked),
    bringApproval: (...asked) => host.actions.desk.bring(...asked),
    waitingApprovals: (filter) => host.root.approvals.waitingApprovals(filter),
    findApproval: (id) => host.root.approvals.findApproval(id),
    decideAnywhere: (...decided) => host.root.approvals.decideAnywhere(...decided),
    decideExecution: (...decided) => host.executions.decide(...decided),
    readApprovals: async (ids) => host.actions.desk.outside.read(ids),
    decideApproval: (...decided) => host.actions.decideFor(...decided),
    takeBroadcast: (request) => host.broadcasts.take(request),
    startBroadcast: (request) => host.broadcasts.desk.startBroadcast(request),
    getBroadcast: (id) => host.broadcasts.desk.getBroadcast(id),
    listBroadcasts: (limit) => host.broadcasts.desk.listBroadcasts(limit),
    broadcastReceipts: (...asked) => host.broadcasts.desk.broadcastReceipts(...asked),
    cancelBroadcast: (id) => host.broadcasts.desk.cancelBroadcast(id),
    nudgeBroadcast: (...told) => host.broadcasts.desk.nudgeBroadcast(...told),
    setSubscribed: (...told) => host.broadcasts.desk.setSubscribed(...told),
    listSubscribers: (filter) => host.broadcasts.desk.listSubscribers(filter),
    locateTarget: async (to) => host.root.runtime.places.locate(to),
    submitScheduled: (request) => host.scheduledTurns.submit(request),
    reportScheduled: (id) => host.scheduledTurns.report(id),
    endScheduled: (id) => host.scheduledTurns.end(id),
    zoneOfPerson: (person) => host.root.zoneOfPerson(person),
    rememberZone: (...told) => host.root.rememberZone(...told),
    nudgeOccurrence: async (key) => host.schedules.schedules.nudge(key),
    claimAction: async (request) => host.actions.ledger.claim(request),
    lookAtAction: async (...asked) => host.actions.ledger.look(...asked),
    endAction: async (...told) => host.actions.ledger.end(...told),
    hasEvent: async (...asked) => host.thread.hasEvent(...asked),
  };
}

import { SwitchboardError } from "../../core/errors.ts";
import type { FigureReport } from "../../core/figures.ts";
import type { BotBudget, ChatGate } from "../../core/gate.ts";
import type { ActionLedger, Claim, ClaimRequest, LookResult, RunEnd } from "../../actions/ledger.ts";
import type { BotFacts, IncomingEvent } from "../../core/messenger.ts";
import type { DeliveryTarget, LegReport, LegRequest } from "../../schedules/index.ts";
import type { HealthProblem, HealthWarning } from "../root/health-problem.ts";
import type { RootCalls } from "../root/root-link.ts";
import type { ApprovalIndexCalls, DecidesApprovals } from "../root/approval-calls.ts";
import type { ZoneCalls } from "./person-zones.ts";
import type { SubmissionDoor } from "../turns/submission-door.ts";
import type { BroadcastCalls, TakesBroadcasts } from "../root/broadcast-calls.ts";
import type { PlacedTarget } from "../../broadcasts/collect-targets.ts";

/** All calls between objects of one bot. */
export interface InnerCalls
  extends
    ChatGate,
    BotBudget,
    RootCalls,
    BroadcastCalls,
    TakesBroadcasts,
    ApprovalIndexCalls,
    DecidesApprovals,
    ZoneCalls,
    SubmissionDoor {
  /** To a root. Returns the problem that keeps the bot from answering. */
  healthProblem(): Promise<HealthProblem | undefined>;
  /** To a root. Returns what may keep the bot from answering soon. */
  healthWarnings(): Promise<readonly HealthWarning[]>;
  /** To a root. Describes the bot to its operator. */
  describeBot(): Promise<BotFacts>;
  /** To a root. Returns the figures of the whole bot in Prometheus' text format. */
  metrics(): Promise<string>;
  /** From the root to a conversation. Resolves when the events are durable there. */
  receiveEvents(messengerId: string, events: readonly IncomingEvent[]): Promise<void>;
  /** From the root to a conversation. */
  hasEvent(messengerId: string, key: string): Promise<boolean>;
  /** To a root. Finds the address of a target, and the conversation that remembers what is said there. */
  locateTarget(to: DeliveryTarget): Promise<PlacedTarget>;
  /** To a conversation: a turn of a scheduled task. Resolves when it is durable there. */
  submitScheduled(request: LegRequest): Promise<void>;
  /** To a conversation: the state of such a turn. */
  reportScheduled(id: string): Promise<LegReport>;
  /** To a conversation: somebody has deleted the schedule of such a turn. */
  endScheduled(id: string): Promise<void>;
  /** To the keeper of a schedule: something about an occurrence has changed. */
  nudgeOccurrence(key: string): Promise<void>;
  /** To a root: the ledger of actions whose keys count in the whole bot. See `ActionLedger`. */
  claimAction(request: ClaimRequest): Promise<Claim>;
  lookAtAction(key: string, action: string, inputHash: string): Promise<LookResult>;
  endAction(key: string, runId: string, end: RunEnd): Promise<void>;
}

/** The one method of an object that carries these calls. */
export interface InnerDoor {
  /** @param figures what the caller's process has counted, for the root; see `Figures` */
  inner(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown>;
}

/** Every inner call. The compiler finds one that is missing here. */
const METHODS = {
  acquire: true,
  penalize: true,
  report: true,
  unclaimed: true,
  noteCard: true,
  findCard: true,
  claimMessage: true,
  lend: true,
  tellSent: true,
  seenIds: true,
  healthProblem: true,
  healthWarnings: true,
  describeBot: true,
  metrics: true,
  chatMoved: true,
  identity: true,
  takeQuestion: true,
  noteUsage: true,
  reportAccess: true,
  chatGone: true,
  resolveTarget: true,
  findSentFile: true,
  noteSentFile: true,
  forgetSentFile: true,
  routeEvent: true,
  receiveEvents: true,
  hasEvent: true,
  noteApproval: true,
  waitingApprovals: true,
  findApproval: true,
  decideAnywhere: true,
  decideApproval: true,
  decideExecution: true,
  readApprovals: true,
  approvalHints: true,
  lookAtApprovals: true,
  bringApproval: true,
  endGrant: true,
  lookAtGrants: true,
  grantPlaces: true,
  takeSubmission: true,
  inspectSubmissionOf: true,
  cancelSubmissionOf: true,
  takeBroadcast: true,
  startBroadcast: true,
  getBroadcast: true,
  listBroadcasts: true,
  broadcastReceipts: true,
  cancelBroadcast: true,
  nudgeBroadcast: true,
  setSubscribed: true,
  listSubscribers: true,
  locateTarget: true,
  submitScheduled: true,
  reportScheduled: true,
  endScheduled: true,
  nudgeOccurrence: true,
  zoneOfPerson: true,
  rememberZone: true,
  claimAction: true,
  lookAtAction: true,
  endAction: true,
} as const satisfies Record<keyof InnerCalls, true>;

/** Returns a root's door that takes along what this process has counted, so that no figure costs a call. */
export function withFigures(door: InnerDoor, figures: () => FigureReport | undefined): InnerDoor {
  return { inner: (method, args) => door.inner(method, args, figures()) };
}

/** Returns the calls to another object, made over its one method. */
export function callsOver(door: () => InnerDoor): InnerCalls {
  const calls = Object.keys(METHODS).map(
    (method) => [method, async (...args: unknown[]) => door().inner(method, args)] as const,
  );
  return Object.fromEntries(calls) as unknown as InnerCalls;
}

/** Returns the ledger of the whole bot, which is in the root's object. */
export function ledgerOver(
  root: Pick<InnerCalls, "claimAction" | "lookAtAction" | "endAction">,
): ActionLedger {
  return {
    claim: (request) => root.claimAction(request),
    look: (...asked) => root.lookAtAction(...asked),
    end: async (key, runId, end, withIt) => {
      await root.endAction(key, runId, end);
      withIt?.();
    },
  };
}

/**
 * Answers a call of another object.
 *
 * @throws {SwitchboardError} `inner-call-unknown` if the caller runs another version of the bot
 */
export async function answerInner(
  calls: InnerCalls,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  if (!Object.hasOwn(METHODS, method)) {
    throw new SwitchboardError("inner-call-unknown", `This version knows no inner call named "${method}".`);
  }
  const call = calls[method as keyof InnerCalls].bind(calls) as (
    ...args: readonly unknown[]
  ) => Promise<unknown>;
  return call(...args);
}

import { canonicalJson } from "../../core/json/canonical-json.ts";
import { wait } from "../../core/base/deps.ts";
import { sha256 } from "../../core/bytes/sha256.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { ActionContext } from "../declare/action-context.ts";
import type { Action, ActionVerdict } from "../declare/action.ts";
import type { CallAttachments } from "../attachments/attachments.ts";
import type { Collected } from "../attachments/collected-attachments.ts";
import { withUnsent } from "../attachments/unsent-attachment.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";
import {
  consentOutdated,
  actionFailureOf,
  isFailure,
  invalidInput,
  keyConflict,
  isWaitingResult,
  notAuthorized,
  notEnabled,
  outcomeUnknown,
  stillAsking,
  stillPending,
} from "../declare/action-errors.ts";
import type { ActionFailure, ActionOutput } from "../declare/action-errors.ts";
import { askConsent, needsConsent } from "./ask-consent.ts";
import type { Consented } from "./ask-consent.ts";
import { StoredMemory } from "./action-memory.ts";
import { checkOutput } from "./check-output.ts";
import { checkValue } from "../../core/json/check-value.ts";
import { isEnabled } from "./enabled-actions.ts";
import { formatResult } from "../declare/format-result.ts";
import { ledgerKeyOf } from "./ledger-key.ts";
import type { ActionLedger, Claim, RunEnd } from "../ledger/ledger.ts";
import type { Json } from "../../core/message/content.ts";
import type { RunRecord } from "../../core/action/run-record.ts";
import { isPlainRead, noLedger } from "../ledger/plain-read.ts";
import { idleMembers, LiveRun } from "./live-run.ts";
import { RecordedRun, UNASKING } from "./recorded-run.ts";
import { nextClaim, tellFailure } from "./retries.ts";
import type { AnyFailedRun } from "./retries.ts";
import { storeOutcome } from "./store-outcome.ts";
import { parseOutput } from "../ledger/stored-output.ts";

/** Time limit of one run, unless the action has its own. */
export const DEFAULT_TIMEOUT_MS = 30_000;
const VERIFY_TIMEOUT_MS = 10_000;
/** Time between two checks of a run of another conversation. */
const POLL_MS = 500;
/** Age at which a run counts as interrupted, unless the bot says otherwise. */
export const DEFAULT_LEASE_MS = 300_000;

/**
 * Runs one call of an action: input, permission, ledger, work, outcome.
 *
 * 1. Nothing runs before the input is valid, the call is allowed and, if consent is needed, a person has agreed.
 * 2. Nothing runs before the ledger has stored the run.
 * 3. The ledger stores a result before the model gets it.
 * 4. Attachments of a run count when its result is stored, and only then.
 * 5. Work that was stopped or timed out may have had its effect. It counts as unknown, never as undone.
 * 6. Work that asks a person is dropped where it asks. With the answer it runs again, from its start and by the same
 *    checks, outside of its turn.
 *
 * Failures of the action are results that the model can read, never exceptions.
 */
export async function runAction(host: ActionHost, request: ActionRequest): Promise<ActionOutput> {
  const beganAt = host.clock.now();
  const output = await outputOf(host, request);
  host.onEnded(request, output, beganAt);
  return output;
}

async function outputOf(host: ActionHost, request: ActionRequest): Promise<ActionOutput> {
  const { action, name } = request;
  const checked = await checkValue(action.inputSchema, request.input);
  if (!checked.isValid) {
    host.onInvalidInput(name);
    return invalidInput(checked.problem, checked.issues);
  }
  const { value: input } = checked;
  const idle = { ...host.context(request), ...idleMembers(host, request), ...UNASKING };
  const call = { input, ctx: { ...idle, attempt: 1 } } as never;
  const inputHash = await sha256(canonicalJson(input));
  if (request.consent !== undefined && request.consent.inputHash !== inputHash) return consentOutdated();
  const earlier = host.earlier(request);
  if (earlier?.kind === "waits") return earlier.output;
  const resumes = earlier?.runId;
  const onFailure = (error: unknown): void => host.onFailure(name, error);
  if (!(await isEnabled(action, { states: host.ownStates, ctx: () => idle, onFailure }))) return notEnabled();

  let key: string;
  let granted: Extract<Consented, { kind: "granted" }> | undefined;
  try {
    const permissions =
      typeof action.permissions === "function" ? await action.permissions(call) : (action.permissions ?? []);
    const decision = await host.authorize({ request, input, requiredPermissions: permissions });
    if (!decision.allowed) return notAuthorized(decision.missing, decision.reason, decision.holders);
    key = request.consent?.ledgerKey ?? (await ledgerKeyOf(request, call));
    if (request.consent === undefined && (await needsConsent(action, call))) {
      const consented = await askConsent(host, request, { call, inputHash, key, permissions });
      if (consented.kind === "answer") return consented.output;
      granted = consented;
    }
  } catch (error) {
    host.onFailure(name, error);
    return actionFailureOf(error);
  }

  const agreed = granted === undefined ? idle : { ...idle, approver: granted.approver };
  const output = await claimAndRun(host, request, { key, inputHash, input, resumes, idle: agreed });
  const mayUseGrant = granted !== undefined || resumes !== undefined;
  if (!mayUseGrant || isWaitingResult(output)) return output;
  host.endUse(request, output, await hadNoEffect(host, request, { key, inputHash }, output));
  return output;
}

/** Whether a run has certainly had no effect: it has failed, and the ledger has freed its key. */
async function hadNoEffect(
  host: ActionHost,
  { action, name }: ActionRequest,
  { inputHash, key }: { readonly key: string; readonly inputHash: string },
  output: Json | ActionFailure,
): Promise<boolean> {
  if (!isFailure(output)) return false;
  try {
    const ledger = host.ledger(action.idempotencyScope ?? "conversation");
    return (await ledger.look(key, name, inputHash)) === undefined;
  } catch {
    // The ledger is in another object, which cannot be reached. Then it is not certain.
    return false;
  }
}

async function claimAndRun(
  host: ActionHost,
  request: ActionRequest,
  call: Pick<Run, "key" | "input" | "idle" | "inputHash"> & { readonly resumes: string | undefined },
): Promise<ActionOutput> {
  const { action } = request;
  const { key } = call;
  const ledger = isPlainRead(action) ? noLedger() : host.ledger(action.idempotencyScope ?? "conversation");
  const claim = await claimed(host, ledger, request, call);
  const attachments = host.attachments(request);
  switch (claim.kind) {
    case "settled":
      // The process may have died after a ledger in another object had settled the run of this same call.
      attachments.record(key);
      return parseOutput(claim.output);
    case "pending":
      return stillPending();
    case "asking":
      return stillAsking();
    case "unknown":
      return outcomeUnknown();
    case "conflict":
      return keyConflict();
    case "interrupted": {
      const run = { ...call, ledger, claim, attachments };
      if (action.verify === undefined) return work(host, request, run);
      return afterVerdict(host, request, run, await verdict(host, request, run), () =>
        work(host, request, run),
      );
    }
    case "run":
      return work(host, request, { ...call, ledger, claim, attachments });
    default:
      return claim satisfies never;
  }
}

interface Run {
  readonly ledger: ActionLedger;
  readonly key: string;
  readonly inputHash: string;
  readonly claim: Extract<Claim, { kind: "run" | "interrupted" }>;
  readonly input: unknown;
  readonly idle: Omit<ActionContext, "attempt">;
  readonly attachments: CallAttachments;
  /** The run that has asked a person, if this one goes on with the answer. */
  readonly resumes?: string | undefined;
}

/** Runs the action, again if it wants that and there is no harm in it. */
async function work(host: ActionHost, request: ActionRequest, first: Run): Promise<ActionOutput> {
  let { claim } = first;
  for (let failures = 1; ; failures += 1) {
    const run = { ...first, claim };
    const isNew = failures === 1 && claim.kind === "run" && run.resumes === undefined;
    const end = await runOnce(host, request, run, isNew);
    if (end.kind === "answer") return end.output;
    const { attempt } = claim;
    const failed = { input: run.input, ctx: { ...run.idle, attempt }, error: end.error, failures };
    const next = await nextClaim(host, request, run, end.kind, failed);
    if (next === undefined) return giveUp(host, request, run, end, failed);
    claim = next;
  }
}

/**
 * The end of one run.
 *
 * - `answer`: the model reads it
 * - `failed`: the run certainly had no effect
 * - `unknown`: it took too long, and may have had its effect
 */
type RunOutcome =
  | { readonly kind: "answer"; readonly output: ActionOutput }
  | { readonly kind: "failed" | "unknown"; readonly error: unknown; readonly record: RunRecord };

/** @param isNew whether nothing that an earlier run has recorded counts */
async function runOnce(
  host: ActionHost,
  request: ActionRequest,
  run: Run,
  isNew: boolean,
): Promise<RunOutcome> {
  const { action, name } = request;
  const { ledger, key, claim } = run;
  const { runId } = claim;
  const limit = new AbortController();
  const timer = host.clock.setTimeout(
    () => limit.abort(new DOMException("The action took too long.", "TimeoutError")),
    action.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  );
  const signal =
    request.signal === undefined ? limit.signal : AbortSignal.any([request.signal, limit.signal]);
  const collected = run.attachments.collect();
  const attachReply: ActionContext["attachReply"] = (attachment) => collected.add(attachment);
  const live = new LiveRun(host, request, signal);
  const { approver } = run.idle;
  const asking = { request, ledgerKey: key, inputHash: run.inputHash, runId, approver };
  const questions = host.asking(asking, isNew);
  const end = { kind: "asking" } as const;
  // The call that waits knows its run, so a ledger elsewhere may hear of it later.
  const isLocal = action.idempotencyScope !== "bot";
  const recorded = new RecordedRun(questions, () => {
    if (isLocal) void ledger.end(key, runId, end);
  });
  const ctx: ActionContext = {
    ...run.idle,
    signal,
    attempt: claim.attempt,
    attachReply,
    ...live.members(),
    ...recorded.members(),
  };
  const memory = new StoredMemory(host, request, ctx);
  const outcome = started(action, run.input, { ...ctx, memory });
  const first = await Promise.race([outcome, aborted(signal), recorded.stopped]);
  host.clock.clearTimeout(timer);
  live.end();
  recorded.close();

  const attached = collected.close();
  const { record } = questions;
  if (first.kind === "asks") {
    limit.abort(new DOMException("The action has asked a person.", "AbortError"));
    if (!isLocal) await storeOutcome(host, name, () => ledger.end(key, runId, end));
    return { kind: "answer", output: first.output };
  }
  if (first.kind === "done") {
    const output = await settle(host, request, run, first.output, attached);
    record.forget();
    return { kind: "answer", output };
  }
  if (first.kind === "broken") {
    host.onFailure(name, first.error);
    await storeOutcome(host, name, () => ledger.end(key, runId, freedAfter(run)));
    record.forget();
    return { kind: "answer", output: actionFailureOf(first.error) };
  }
  if (first.kind === "failed" && !signal.aborted) {
    host.onFailure(name, first.error);
    return { ...first, record };
  }
  await storeOutcome(host, name, () => ledger.end(key, runId, { kind: "unknown" }));
  // Work that ignores its signal may still end, and then its outcome is known.
  void outcome.then(async (late) => {
    if (late.kind === "done") await settle(host, request, run, late.output, NOTHING_ATTACHED);
  });
  if (request.signal?.aborted === true) return { kind: "answer", output: outcomeUnknown() };
  const error: unknown = signal.reason;
  if (isPlainRead(action)) return { kind: "failed", error, record };
  if (action.verify === undefined) return { kind: "unknown", error, record };
  const found = await verdict(host, request, run);
  if (found !== "unknown" && !found.done) return { kind: "failed", error, record };
  return { kind: "answer", output: await afterVerdict(host, request, run, found) };
}

async function giveUp(
  host: ActionHost,
  request: ActionRequest,
  run: Run,
  { kind, record }: Exclude<RunOutcome, { kind: "answer" }>,
  failed: AnyFailedRun,
): Promise<ActionFailure> {
  if (kind === "failed") {
    const { claim, key, ledger } = run;
    await storeOutcome(host, request.name, () => ledger.end(key, claim.runId, freedAfter(run)));
    record.forget();
  }
  const error = await tellFailure(host, request, failed);
  return kind === "failed" ? actionFailureOf(error) : outcomeUnknown();
}

/** The end of a run that had no effect. A run that was interrupted before it may have had one. */
function freedAfter({ claim, resumes }: Run): RunEnd {
  return { kind: "freed", isCertain: claim.kind === "run" && resumes === undefined };
}

type Outcome =
  | { readonly kind: "done"; readonly output: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

async function started(action: Action, input: unknown, ctx: object): Promise<Outcome> {
  try {
    return { kind: "done", output: await action.execute(input as never, ctx as never) };
  } catch (error) {
    return { kind: "failed", error };
  }
}

function aborted(signal: AbortSignal): Promise<{ readonly kind: "aborted" }> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve({ kind: "aborted" });
    else signal.addEventListener("abort", () => resolve({ kind: "aborted" }), { once: true });
  });
}

async function settle(
  host: ActionHost,
  request: ActionRequest,
  run: Run,
  raw: unknown,
  /** Undefined if an earlier run had the effect. Its attachments count then. */
  attached?: Collected,
): Promise<Json | ActionFailure> {
  const { action, name } = request;
  const { attachments, input, key, ledger } = run;
  const { runId } = run.claim;
  const checked = await checkOutput(host, request, raw);
  const kept = checked.isValid ? attached : NOTHING_ATTACHED;
  const unsent = kept === undefined ? [] : await attachments.keep({ runId, ledgerKey: key }, kept);
  const output = withUnsent(checked.output as Json, unsent);
  const end = { kind: "settled", output: JSON.stringify(output) } as const;
  const record = (): void => attachments.record(key);
  const isStored = await storeOutcome(host, name, () => ledger.end(key, runId, end, record));
  // The model gets the output all the same, so the reply gets its attachments.
  if (!isStored) record();
  const shown = checked.isValid ? formatResult(action, { input, output }) : undefined;
  if (shown !== undefined) host.onResult(name, shown);
  return output;
}

const NOTHING_ATTACHED: Collected = { drafts: [], unsent: [] };

/** Finds out whether an earlier run had its effect. */
async function verdict(host: ActionHost, { action, name }: ActionRequest, run: Run): Promise<ActionVerdict> {
  if (action.verify === undefined) return "unknown";
  try {
    const ctx = { ...run.idle, attempt: run.claim.attempt };
    const asked = Promise.resolve(action.verify({ input: run.input, ctx } as never));
    return await withinTime(host.clock, VERIFY_TIMEOUT_MS, asked, `verify of ${name}`);
  } catch (error) {
    host.onFailure(name, error);
    return "unknown";
  }
}

async function afterVerdict(
  host: ActionHost,
  request: ActionRequest,
  run: Run,
  found: ActionVerdict,
  ifNotDone: () => Promise<ActionOutput> = async () => outcomeUnknown(),
): Promise<ActionOutput> {
  if (found === "unknown") {
    await storeOutcome(host, request.name, () =>
      run.ledger.end(run.key, run.claim.runId, { kind: "unknown" }),
    );
    return outcomeUnknown();
  }
  return found.done ? settle(host, request, run, found.output) : ifNotDone();
}

/** Claims the key. Waits while another conversation, or another call of this one, runs under it. */
async function claimed(
  host: ActionHost,
  ledger: ActionLedger,
  request: ActionRequest,
  {
    inputHash,
    key,
    resumes,
  }: { readonly inputHash: string; readonly key: string; readonly resumes: string | undefined },
): Promise<Claim> {
  const { action, name, signal } = request;
  const hasKey = action.idempotencyKey !== undefined;
  const { claimant, process, leaseMs, clock } = host;
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = action;
  const giveUpAt = clock.now() + timeoutMs;
  for (;;) {
    const claim = await ledger.claim({
      key,
      action: name,
      inputHash,
      claimant,
      process,
      // Nobody has said that the undoing of a call can be repeated: its key is none of the bot's.
      canRepeat: hasKey && leaseMs !== false && !name.startsWith("undo:"),
      canVerify: action.verify !== undefined,
      // A run that still has time is never taken for interrupted.
      leaseMs: Math.max(leaseMs === false ? DEFAULT_LEASE_MS : leaseMs, timeoutMs + VERIFY_TIMEOUT_MS),
      resumes,
    });
    if (claim.kind !== "pending" || !claim.mayEnd) return claim;
    if (clock.now() >= giveUpAt || signal?.aborted === true) return claim;
    await wait(clock, POLL_MS, signal).catch(() => {
      // The turn was stopped, so the next check is the last.
    });
  }
}

import { SwitchboardError } from "../core/base/errors.ts";

/**
 * The kind of a failed model call, by its remedy.
 *
 * - `model-unauthorized`: the server refuses the key (401, 403)
 * - `model-rate-limited`: too many requests, or no quota left (429)
 * - `model-overloaded`: the server cannot answer now (408, 5xx)
 * - `model-unreachable`: no connection to the server
 * - `model-rejected`: the server refuses the request itself (other 4xx)
 * - `context-overflow`: the conversation is longer than the model accepts
 * - `model-cut`: the answer ended before the model said that it was done
 * - `model-limit`: the model stopped in the answer because it may not write more tokens
 * - `model-stalled`: the server was silent for too long
 * - `model-timeout`: the call took longer than `timeout` of the turn allows
 * - `model-package-missing`: the provider's package is not installed
 * - `model-failed`: anything else
 */
export type ModelCallErrorCode =
  | "model-unauthorized"
  | "model-rate-limited"
  | "model-overloaded"
  | "model-unreachable"
  | "model-rejected"
  | "context-overflow"
  | "model-cut"
  | "model-limit"
  | "model-stalled"
  | "model-timeout"
  | "model-package-missing"
  | "model-failed";

export interface ModelCallFailure {
  readonly code: ModelCallErrorCode;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** HTTP status, if the server answered with one. */
  readonly status?: number;
  /** The server's own short word for it, e.g. `model_not_found`. */
  readonly reason?: string;
  /** Time that the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The package that is missing. */
  readonly packageName?: string;
}

/**
 * The only error that leaves a guarded model, except for the caller's own abort. It has no URL, header, body or cause,
 * so it may be logged and stored (I10). It is not the AI SDK's `APICallError`, so the SDK does not retry it: the turn
 * alone decides about retries.
 */
export class ModelCallError extends SwitchboardError {
  declare readonly code: ModelCallErrorCode;
  readonly provider: string;
  readonly modelId: string;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(model: { readonly provider: string; readonly modelId: string }, failure: ModelCallFailure) {
    super(failure.code, describe(model.modelId, failure));
    this.name = "ModelCallError";
    this.provider = model.provider;
    this.modelId = model.modelId;
    this.retryable = failure.retryable;
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

function describe(modelId: string, failure: ModelCallFailure): string {
  const details = [failure.status === undefined ? "" : `HTTP ${failure.status}`, failure.reason ?? ""];
  const suffix = details.filter((detail) => detail !== "").join(", ");
  const sentence = SENTENCES[failure.code](modelId, failure.packageName);
  return suffix === "" ? sentence : `${sentence} (${suffix})`;
}

/** `context-overflow` contains the words "context window", which tell the turn engine to compact. */
const SENTENCES: Readonly<Record<ModelCallErrorCode, (modelId: string, packageName?: string) => string>> = {
  "model-unauthorized": (modelId) =>
    `The model server refuses the key for model "${modelId}"; set a valid API key with access to it.`,
  "model-rate-limited": (modelId) =>
    `The model server limits the requests for model "${modelId}"; wait, or raise its quota.`,
  "model-overloaded": (modelId) => `The model server cannot answer for model "${modelId}" now.`,
  "model-unreachable": (modelId) =>
    `The model server for model "${modelId}" cannot be reached; check its base URL and the network.`,
  "model-rejected": (modelId) =>
    `The model server rejects the request for model "${modelId}"; check MODEL and the base URL.`,
  "context-overflow": (modelId) =>
    `The conversation does not fit in the context window of model "${modelId}".`,
  "model-cut": (modelId) => `The answer of model "${modelId}" ended before it was complete.`,
  "model-limit": (modelId) =>
    `Model "${modelId}" stopped in its answer at the limit of its output tokens; raise it, or ask for less.`,
  "model-stalled": (modelId) => `Model "${modelId}" sent nothing for too long.`,
  "model-timeout": (modelId) =>
    `The call of model "${modelId}" took longer than \`timeout\` of beforeTurn() allows.`,
  "model-package-missing": (modelId, packageName = "") =>
    `Model "${modelId}" needs the package ${packageName}, which is not installed: npm install ${packageName}`,
  "model-failed": (modelId) => `The call of model "${modelId}" failed.`,
};

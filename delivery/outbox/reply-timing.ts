import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import type { MediaSource, OutgoingContent, Surface } from "../../src/core/chat/surface.ts";

const DEFAULT_CALL_TIMEOUT_MS = 15_000;
const DEFAULT_EDIT_EVERY_MS = 700;
const UNHURRIED_LENGTH = 1_000;
const SLOWER_EACH = 400;
const LONGEST_INTERIM_MS = 5_000;

/** The slowest upload that is waited for: 128 KiB a second. */
const LEAST_BYTES_PER_MS = (128 * 1024) / 1000;
/** Time for the platform to fetch a file from its address. */
const FETCH_MS = 15_000;

/** A call may still take effect this long after its time limit. */
const LANDS_LATE_MS = 2_000;

/**
 * Returns the time (epoch milliseconds) after which a post that begins at `begunAt` cannot land any more, however slow
 * the platform is.
 */
export function landsBy(
  policy: ReplyPolicy,
  surface: Surface,
  begunAt: number,
  content: Pick<OutgoingContent, "files" | "image"> = {},
): number {
  return begunAt + postTimeoutMs(policy, surface, content) + LANDS_LATE_MS;
}

/**
 * Returns the time (epoch milliseconds) after which an edit of text that began at `begunAt` cannot land any more.
 *
 * @param surface undefined if the messenger is no longer declared
 */
export function editLandsBy(policy: ReplyPolicy, surface: Surface | undefined, begunAt: number): number {
  return begunAt + callTimeoutMs(policy, surface) + LANDS_LATE_MS;
}

/** Returns the time limit of a post, in milliseconds. Files take longer than text, according to their size. */
export function postTimeoutMs(
  policy: ReplyPolicy,
  surface: Surface,
  { files = [], image }: Pick<OutgoingContent, "files" | "image">,
): number {
  const textMs = callTimeoutMs(policy, surface);
  const media = image !== undefined && "source" in image ? [...files, image] : files;
  const transferMs = media.reduce((sum, { source }) => sum + transferMsOf(source), 0);
  return Math.max(textMs, Math.min(textMs + transferMs, surface.capabilities.files?.callTimeoutMs ?? 0));
}

function transferMsOf(source: MediaSource): number {
  switch (source.kind) {
    case "bytes":
      return Math.ceil(source.sizeBytes / LEAST_BYTES_PER_MS);
    case "address":
      return FETCH_MS;
    case "platform":
      return 0;
    default:
      return source satisfies never;
  }
}

/** Returns the time limit of a call. `surface` is undefined if the messenger is no longer declared. */
export function callTimeoutMs(policy: ReplyPolicy, surface: Surface | undefined): number {
  return policy.callTimeoutMs ?? surface?.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS;
}

export function editEveryMs(policy: ReplyPolicy, surface: Surface): number {
  return policy.editEveryMs ?? surface.editEveryMs ?? DEFAULT_EDIT_EVERY_MS;
}

/**
 * Returns the least time between two interim edits. A long text takes longer to read: each further `SLOWER_EACH`
 * characters add the time between two edits of a short text, up to a limit.
 */
export function interimEveryMs(policy: ReplyPolicy, surface: Surface, textLength: number): number {
  const everyMs = editEveryMs(policy, surface);
  const steps = Math.max(0, textLength - UNHURRIED_LENGTH) / SLOWER_EACH;
  return Math.max(everyMs, Math.min(LONGEST_INTERIM_MS, everyMs * (1 + steps)));
}

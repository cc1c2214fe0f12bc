import { InvalidInputError, SwitchboardError } from "../base/errors.ts";
import { joinBytes } from "../bytes/join-bytes.ts";
import { abortError, untilAborted } from "../time/until-aborted.ts";

/**
 * Makes a call that fetches an attachment. Replaces its error, which may hold a token or a signed address (I10). A call
 * that takes no signal goes on after the signal aborts, and its outcome is dropped.
 *
 * @throws {SwitchboardError} `attachment-timed-out`, or `code`: it may succeed later
 */
export async function untilFailed<Result>(
  run: () => Promise<Result>,
  signal: AbortSignal,
  code = "attachment-connection-lost",
): Promise<Result> {
  try {
    if (signal.aborted) throw abortError();
    return await untilAborted(signal, run(), abortError);
  } catch {
    if (signal.aborted)
      throw new SwitchboardError("attachment-timed-out", "Fetching an attachment took too long.");
    throw new SwitchboardError(code, "Fetching an attachment failed.");
  }
}

/** @throws {InvalidInputError} `attachment-too-large` */
export function refuseOver(maxBytes: number, sizeBytes: number | undefined): void {
  if (sizeBytes === undefined || !(sizeBytes > maxBytes)) return;
  throw new InvalidInputError(
    "attachment-too-large",
    `The attachment has more than ${maxBytes} bytes. Raise \`maxMediaBytes\` to allow more.`,
  );
}

/** Reads the body of a download and counts its bytes. The header may be wrong, and compressed content grows. */
export async function readUpTo(
  maxBytes: number,
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    refuseOver(maxBytes, Number(response.headers.get("content-length") ?? 0));
    for (;;) {
      const { done, value } = await untilFailed(() => reader.read(), signal);
      if (done) return joinBytes(pieces);
      sizeBytes += value.byteLength;
      refuseOver(maxBytes, sizeBytes);
      pieces.push(value);
    }
  } finally {
    // The rest of the body is not needed.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Ids of requests that no turn makes: calls of actions by other systems. Nobody in the conversation waits for their
 * outcome: the caller reads it.
 */
const OUTSIDE = "outside:";
/** The caller itself asks its person for consent, so no chat does. */
const ASKED_BY_CALLER = "outside-asked:";

/** Returns the id of the request that a call of another system is. */
export function outsideRequest(callId: string): string {
  return `${OUTSIDE}${callId}`;
}

/** Returns the id under which the caller itself asks for consent to its request. */
export function askedByCaller(requestId: string): string {
  return `${ASKED_BY_CALLER}${requestId.slice(OUTSIDE.length)}`;
}

export function isOutsideRequest(requestId: string): boolean {
  return requestId.startsWith(OUTSIDE) || isAskedByCaller(requestId);
}

export function isAskedByCaller(requestId: string): boolean {
  return requestId.startsWith(ASKED_BY_CALLER);
}

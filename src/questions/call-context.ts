import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import { isOutsideRequest } from "../core/action/outside-call.ts";
import type { CallFacts, StoredFacts } from "../messengers/tools/action-rights.ts";
import { threadOf } from "../messengers/tools/call-facts.ts";
import type { ParkedCall } from "../replay/parked-call-store.ts";

/** What a parked call needs to run again. Plain JSON. */
export interface CallContext extends StoredFacts, Pick<CallFacts, "outside"> {
  readonly channel?: string | undefined;
  /** The person who agreed to the call. */
  readonly approver?: MessengerAuthor | undefined;
  /** The reply that shows what the call attaches. Undefined: that of its outcome. */
  readonly owner?: string | undefined;
}

/** Returns the context of a parked call, as `QuestionCalls` has written it. */
export function contextOf({ context }: Pick<ParkedCall, "context">): CallContext {
  return context as unknown as CallContext;
}

/** For whom and where a call runs: an answer gives nobody more rights. */
export function factsOf(call: ParkedCall): CallFacts {
  const { address, askOwnerIn, outside: asker, people, person, schedule, scopes } = contextOf(call);
  // The conversation for which an agent works asks for it, and is no caller.
  const outside = isOutsideRequest(call.requestId) ? asker : undefined;
  return { people, person, address, chat: threadOf(address), schedule, askOwnerIn, scopes, outside };
}

import type { Json } from "../core/message/content.ts";
import type { CallFacts, StoredFacts } from "../messengers/tools/action-rights.ts";
import { threadOf } from "../messengers/tools/call-facts.ts";
import type { CodeRun } from "./code-store.ts";

/** What a run of code needs to go on outside of its turn. Plain JSON. */
interface CodeContext extends StoredFacts {
  readonly channel?: string | undefined;
}

export function contextJson(facts: CallFacts, channel: string | undefined): Json {
  const { address, askOwnerIn, people, person, schedule, scopes } = facts;
  const context: CodeContext = { people, person, address, schedule, askOwnerIn, scopes, channel };
  return JSON.parse(JSON.stringify(context)) as Json;
}

export function channelOf({ context }: Pick<CodeRun, "context">): string | undefined {
  return (context as unknown as CodeContext).channel;
}

/** For whom and where a run makes its calls: consent gives nobody more rights. */
export function factsOf({ context }: Pick<CodeRun, "context">): CallFacts {
  const { channel: _channel, ...facts } = context as unknown as CodeContext;
  return { ...facts, person: facts.person, address: facts.address, chat: threadOf(facts.address) };
}

import type { ActionStates } from "../actions/memory/action-states.ts";
import type { ActionLedger } from "../actions/ledger/ledger.ts";
import type { IncomingEvent } from "../core/chat/messenger.ts";
import { wait } from "../core/base/deps.ts";
import type { Clock } from "../core/base/deps.ts";
import { answerOf, unknownCall } from "../core/chat/inner-calls.ts";
import { OBJECT } from "../messengers/root/object-calls.ts";
import type { ObjectCalls } from "../messengers/root/object-calls.ts";
import type { PlatformCalls } from "../messengers/root/platform-keepers.ts";
import type { ThreadCalls } from "../messengers/root/root-link.ts";
import type { BotRoot } from "./bot-root.ts";
import type { ObjectHost } from "./object-host.ts";
import type { ChatGate } from "../core/chat/gate.ts";
import { STATES } from "./ledger-over.ts";
import { OLD_CALL_NAMES } from "./old-call-names.ts";

const WAITS = 5;
const WAIT_MS = 1;

/** The parts of an object that answer calls. */
export interface AnsweringHost extends ObjectHost {
  readonly gate: ChatGate;
  readonly root: BotRoot;
  readonly platforms: PlatformCalls;
  belongTo(rootClass: string): void;
  later(work: () => void, before?: Promise<void>): void;
}

/**
 * Returns what answers the calls of a group in an object. Each part is created when it is called first.
 *
 * @throws {SwitchboardError} `unknown-call` if there is no such group
 */
export function answering(object: AnsweringHost, group: string): object {
  switch (group) {
    case "gate":
      return object.gate;
    case "budget":
      return object.root.budget;
    case "root":
      return object.root.runtime;
    case "bot":
      return object.root;
    case "thread":
      return threadCalls(object);
    case OBJECT.name:
      return {
        belongTo: async (rootClass, messengerId) => {
          object.belongTo(rootClass);
          return messengerId === undefined || object.messengers.find(messengerId) !== undefined;
        },
      } satisfies ObjectCalls;
    case "ledger":
      return object.actions.ledger satisfies ActionLedger;
    case STATES.name:
      return object.actions.states satisfies ActionStates;
    case "scheduled-runs":
      return object.runs;
    case "platform":
      return object.platforms;
    default: {
      const calls = object.features.answering(group);
      if (calls === undefined) throw unknownCall(group);
      return calls;
    }
  }
}

/**
 * Answers a call of another object.
 *
 * @param name `group.method`, or a name of an earlier version
 * @throws {SwitchboardError} `unknown-call` if the caller runs another version of the bot
 */
export async function answerCall(
  object: AnsweringHost,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  const known = Object.hasOwn(OLD_CALL_NAMES, name) ? (OLD_CALL_NAMES[name] ?? name) : name;
  const at = known.indexOf(".");
  const answer = answerOf(answering(object, known.slice(0, at)), known.slice(at + 1));
  if (answer === undefined) throw unknownCall(name);
  return answer(...args);
}

function threadCalls(object: AnsweringHost): ThreadCalls {
  return {
    /** Stores events of this conversation, and works on them as soon as the webhook is answered. */
    receiveEvents: async (messengerId: string, events: readonly IncomingEvent[]) => {
      const isWorkLeft = await object.thread.receive(messengerId, events);
      if (!isWorkLeft) return;
      await object.durable();
      object.later(() => object.thread.poke(), answerFirst(object.deps.clock));
    },
    hasEvent: async (messengerId: string, key: string) => object.thread.hasEvent(messengerId, key),
  };
}

/**
 * Gives the platform its answer before a turn begins, although both are done by the same thread. Several short waits
 * are better than a long one: on a busy machine it can pass without any progress of the answer.
 */
async function answerFirst(clock: Clock): Promise<void> {
  for (let waits = 0; waits < WAITS; waits += 1) await wait(clock, WAIT_MS);
}

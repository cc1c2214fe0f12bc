import { RootBudget, createChatGate } from "../../delivery/index.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { ChatGate, LocalSpeaker } from "../../src/core/chat/gate.ts";

/** An object that says nothing itself. */
export const NOBODY: LocalSpeaker = {
  isInDoubt: () => false,
  isUnresolved: () => false,
  sentIds: () => [],
  lastUsedAt: () => undefined,
};

/** Another gate, except for these answers. */
export function gateWith(real: ChatGate, own: Partial<ChatGate>): ChatGate {
  return {
    acquire: (request) => real.acquire(request),
    penalize: (...told) => real.penalize(...told),
    report: (told) => real.report(told),
    unclaimed: (question) => real.unclaimed(question),
    noteCard: (told) => real.noteCard(told),
    findCard: (question) => real.findCard(question),
    claimMessage: (question) => real.claimMessage(question),
    ...own,
  };
}

/** A root and the gate of a chat, in the object that speaks there unless `speaker` is nobody. */
export function createTestGate(options: {
  readonly rootDatabase: Database;
  readonly gateDatabase: Database;
  readonly deps: Deps;
  /** The name of the gate's object. */
  readonly name: string;
  readonly local?: () => LocalSpeaker;
}): { readonly gate: ChatGate; readonly root: RootBudget } {
  const { deps, gateDatabase, local = () => NOBODY, name, rootDatabase } = options;
  const root = new RootBudget({ database: rootDatabase, deps });
  const gate = createChatGate({
    database: gateDatabase,
    deps,
    name,
    root,
    local: {
      isInDoubt: (...asked) => local().isInDoubt(...asked),
      isUnresolved: (chat) => local().isUnresolved(chat),
      sentIds: (...asked) => local().sentIds(...asked),
      lastUsedAt: () => local().lastUsedAt(),
    },
  });
  return { gate, root };
}

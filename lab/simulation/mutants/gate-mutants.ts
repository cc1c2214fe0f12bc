import type { CallPurpose, ChatGate } from "../../../src/core/chat/gate.ts";
import type { Mutant } from "../machine/mutant.ts";
import { giving } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of the gates of chats, and of the requests to them. */
export const gateMutants: readonly Mutant[] = [
  {
    name: "penalty-forgotten",
    what: "a penalty is forgotten after a restart of the chat's gate",
    gateDatabase: (database) =>
      withoutWrites(database, (statement) => /(?:INTO|UPDATE) gate_v1 .*\buntil\b/.test(statement)),
  },
  {
    name: "penalty-halved",
    what: "half of a penalty is waited for",
    gate: (gate) => ({
      ...bound(gate),
      penalize: (address, retryAfterMs) => gate.penalize(address, retryAfterMs / 2),
    }),
    surface: (surface) => ({
      ...surface,
      classifyError(error) {
        const failure = surface.classifyError(error);
        return failure.kind === "retry-after"
          ? { ...failure, retryAfterMs: failure.retryAfterMs / 2 }
          : failure;
      },
    }),
  },
  {
    name: "right-given-to-two",
    what: "two conversations of a chat post at the same time",
    gate: (gate) => ({ ...bound(gate), acquire: (request) => gate.acquire({ ...request, isPost: false }) }),
  },
  {
    name: "right-forgotten",
    what: "the right to post is forgotten after a restart of the chat's gate",
    gateDatabase: (database) =>
      withoutWrites(database, (statement) => /(?:INTO|UPDATE) gate_v1 .*\bpost_right\b/.test(statement)),
  },
  {
    name: "range-cut-by-restart",
    what: "a search after a restart ends at the ids that the root knew, below the posts that it had not heard of",
    rootDatabase: (database) => ({
      ...database,
      all: (statement, ...bindings) => database.all(statement, ...bindings),
      transaction: (body) => database.transaction(body),
      run: (statement, ...bindings) =>
        database.run(
          statement,
          ...(/INTO box_v1/.test(statement) ? giving(statement, bindings, "posted_up_to", 0) : bindings),
        ),
    }),
  },
  {
    name: "grant-kept",
    what: "a grant is used again after the gate that gave it has died",
    gateClient: (gate) => ({
      ...bound(gate),
      acquire: async (request) => {
        const grant = await gate.acquire(request);
        const isUsedAgain = grant.kind === "wait" && grant.reason === "pacing" && request.purpose === "edit";
        return isUsedAgain ? { kind: "granted" } : grant;
      },
    }),
  },
  {
    name: "edit-held-by-doubt",
    what: "an edit waits for the post of another topic",
    gate: (gate) => ({ ...bound(gate), acquire: (request) => gate.acquire({ ...request, isPost: true }) }),
  },
  {
    name: "no-reserve",
    what: "interim edits and typing take the slot of the final text",
    gate: (gate) => ({
      ...bound(gate),
      acquire: (request) =>
        gate.acquire(isCosmetic(request.purpose) ? { ...request, purpose: "post" } : request),
    }),
  },
  {
    name: "penalty-for-all",
    what: "a conversation keeps the penalty of one chat in all its chats",
    gateClient: (gate, { clock, memory }) => ({
      ...bound(gate),
      penalize: (address, retryAfterMs) => {
        memory.set("until", clock.now() + retryAfterMs);
        return gate.penalize(address, retryAfterMs);
      },
      acquire: (request) => {
        const until = memory.get("until") ?? 0;
        return until > clock.now()
          ? Promise.resolve({ kind: "wait", retryAt: until, reason: "penalty" })
          : gate.acquire(request);
      },
    }),
  },
  {
    name: "penalty-of-first-chat",
    what: "a conversation knows only the penalties of the chat in which it wrote first",
    gateClient: (gate, { memory }) => ({
      ...bound(gate),
      penalize: (address, retryAfterMs) => {
        const [first = address.chatId] = memory.keys();
        return first === address.chatId ? gate.penalize(address, retryAfterMs) : Promise.resolve();
      },
      acquire: (request) => {
        memory.set(request.address.chatId, 1);
        return gate.acquire(request);
      },
    }),
  },
];

/** A gate as a plain object, of which single methods can be replaced. */
export function bound(gate: ChatGate): ChatGate {
  return {
    acquire: (request) => gate.acquire(request),
    penalize: (address, retryAfterMs) => gate.penalize(address, retryAfterMs),
    report: (report) => gate.report(report),
    unclaimed: (question) => gate.unclaimed(question),
    noteCard: (report) => gate.noteCard(report),
    findCard: (question) => gate.findCard(question),
    claimMessage: (question) => gate.claimMessage(question),
  };
}

function isCosmetic(purpose: CallPurpose): boolean {
  return purpose === "edit" || purpose === "typing";
}

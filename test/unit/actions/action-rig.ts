import { z } from "zod";
import type { Action, ActionOptions } from "../../../src/actions/declare/action.ts";
import { Attachments } from "../../../src/actions/attachments/attachments.ts";
import { LocalStates } from "../../../src/actions/memory/action-states.ts";
import { LocalLedger } from "../../../src/actions/ledger/ledger.ts";
import type { ActionLedger } from "../../../src/actions/ledger/ledger.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type { Json } from "../../../src/core/message/content.ts";
import type { Answer, AskedQuestion } from "../../../src/core/chat/question.ts";
import type { RunEntry } from "../../../src/core/action/run-record.ts";
import { RunLog } from "../../../src/replay/run-log.ts";
import { askingResult } from "../../../src/actions/declare/action-errors.ts";
import { runAction } from "../../../src/actions/runs/run-action.ts";
import type { ActionHost, AuthorizationResult } from "../../../src/actions/runs/action-host.ts";
import type { ByteSource, StoredAttachment } from "../../../src/core/message/reply-attachment.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import type { VirtualClock } from "../../../test/support/virtual-clock.ts";

export const inputSchema = z.object({ orderId: z.string() });

/** The result of a call whose life has ended: nobody hears of it. */
export const killed = Symbol("killed");

export type RefundOptions = Partial<ActionOptions<typeof inputSchema, unknown>>;

/** An action, as `getActions()` returns it, around these options. */
export function refund(options: RefundOptions): Action {
  return {
    kind: "server",
    description: "Refund an order.",
    inputSchema,
    execute: () => "refunded",
    ...options,
  };
}

export interface ActionRig {
  readonly clock: VirtualClock;
  /** What bot code threw. */
  readonly failures: unknown[];
  /** Problems of outputs that did not fit. */
  readonly outputs: string[];
  /** Results as `format` shows them. */
  readonly results: string[];
  /** Lines of progress, and `undefined` where one was taken away. */
  readonly progress: (string | undefined)[];
  /** Attachments that were left out. */
  readonly refused: unknown[];
  /** Holders of stored bytes. */
  readonly held: Map<string, readonly string[]>;
  decision: AuthorizationResult;
  leaseMs: number | false;
  /** Whether the ledger is in another object, which stores on its own. */
  isLedgerRemote: boolean;
  /** Stored questions, oldest first. */
  readonly asked: RigQuestion[];
  isNobodyThere: boolean;
  /** Answers the newest question. */
  answer(answer: Answer<Json>): void;
  /** Returns what counts as attached to a reply. */
  attachments(owner?: string): StoredAttachment[];
  /** Ends this life of the object: it writes nothing more, and the next call is of a new life. */
  restart(): void;
  /** Ends this life before or after one of its next writes: 0 is before the next one, 1 after it, 2 before the one after. */
  killAtWrite(point: number): void;
  /** Calls the action once, as the model would. Resolves with `killed` when its life has ended. */
  call(action: Action | OverDatabase, input?: unknown, options?: CallOptions): Promise<unknown>;
  /** Calls the action, and resolves when its work has begun. */
  begin(action: Action, options?: CallOptions): Promise<{ readonly result: Promise<unknown> }>;
}

/** Makes an action whose work is in the database of one life. */
export type OverDatabase = (database: Database) => Action;

export interface CallOptions {
  readonly requestId?: string;
  readonly toolCallId?: string;
  readonly signal?: AbortSignal;
  /** Whether the call runs outside of its turn, after an answer. */
  readonly isOutside?: boolean;
}

/** A question that was stored. */
export interface RigQuestion {
  readonly question: AskedQuestion;
  readonly position: number;
  readonly entry: RunEntry;
  readonly runId: string;
  readonly ledgerKey: string;
  readonly toolCallId: string;
}

export function createActionRig(): ActionRig {
  const clock = createVirtualClock();
  const data = createNodeDatabase();
  let life = 1;
  const rootData = createNodeDatabase();
  let ids = 0;
  const newId = (): string => `id-${(ids += 1)}`;
  let toGo = Infinity;
  let death = Promise.withResolvers<typeof killed>();
  const end = (): void => {
    life += 1;
    toGo = Infinity;
    death.resolve(killed);
    death = Promise.withResolvers<typeof killed>();
  };
  const pass = (): void => {
    if (toGo === 0) {
      end();
      throw new Error("killed by a test");
    }
    toGo -= 1;
  };
  const rig: ActionRig = {
    clock,
    failures: [],
    outputs: [],
    results: [],
    progress: [],
    refused: [],
    held: new Map(),
    isLedgerRemote: false,
    asked: [],
    isNobodyThere: false,
    answer: (answer) => {
      const { ledgerKey, position } = rig.asked.at(-1) as RigQuestion;
      new RunLog(data, clock).answer(ledgerKey, position, answer as unknown as Json);
    },
    attachments: (owner = "turn") => attachmentsIn(data).of([owner]),
    decision: { allowed: true },
    leaseMs: 300_000,
    restart: end,
    killAtWrite: (point) => {
      toGo = point;
    },
    call: async (action, input = { orderId: "7" }, options = {}) => {
      const died = death.promise;
      return Promise.race([died, live(action, input, options)]);
    },
    begin: async (action, options) => {
      const begun = Promise.withResolvers<void>();
      const observed: Action = {
        ...action,
        execute: (input, ctx) => {
          begun.resolve();
          return action.execute(input, ctx);
        },
      };
      const result = rig.call(observed, undefined, options);
      await begun.promise;
      return { result };
    },
  };
  const attachmentsIn = (database: Database): Attachments =>
    new Attachments({
      database,
      clock,
      files: {
        addBytes: (source: ByteSource) =>
          source instanceof Uint8Array
            ? Promise.resolve({ storedId: `bytes:${source.join()}`, sizeBytes: source.length })
            : Promise.reject(new Error("The stream ended early.")),
        hold: (holder, ids) => void rig.held.set(holder, ids),
        release: (holder) => void rig.held.delete(holder),
      },
      onRefused: (error) => {
        rig.refused.push(error);
      },
    });
  /** One call in the present life. */
  const live = async (
    given: Action | OverDatabase,
    input: unknown,
    { isOutside = false, requestId: turnId = "turn", toolCallId = "call-1", signal }: CallOptions,
  ) => {
    const born = life;
    const database = data.withHooks({
      beforeWrite: () => {
        if (life !== born) throw new Error("killed by a test");
        pass();
      },
      afterWrite: pass,
    });
    const host: Omit<ActionHost, "ledger"> = {
      clock,
      claimant: "thread",
      process: `life-${born}`,
      leaseMs: rig.leaseMs,
      onEnded: () => {},
      context: ({ requestId, messages }) => ({
        agent: undefined,
        env: undefined,
        requestId,
        toolCallId,
        messages,
        person: undefined,
        people: [],
        chat: undefined,
        approver: undefined,
        client: { kind: "chat" },
        caller: {
          id: "bot",
          name: "bot",
          capabilities: { progress: true, sampling: true, elicitation: false },
        },
        log: () => {},
        activateContext: () => {},
        deactivateContext: () => {},
        shortTermMemory: { get: () => undefined, set: () => {} },
      }),
      states: (scope) => new LocalStates(scope === "bot" ? rootData : database, { clock, newId }),
      ownStates: new LocalStates(database, { clock, newId }),
      progress: (_request, line) => {
        rig.progress.push(line);
      },
      sample: (_request, { prompt }) => Promise.resolve(`sampled ${prompt}`),
      attachments: ({ requestId }) => attachmentsIn(database).ofCall(requestId),
      authorize: () => Promise.resolve(rig.decision),
      ask: () => Promise.resolve({ approvalId: "asked" }),
      useGrant: () => Promise.resolve(undefined),
      endUse: () => {},
      earlier: () => {
        const asked = rig.asked.findLast(({ toolCallId: id }) => id === toolCallId);
        if (asked === undefined) return undefined;
        const answered = new RunLog(database, clock)
          .of(asked.ledgerKey, false)
          .read(asked.position, asked.entry);
        return isOutside && answered !== undefined
          ? { kind: "resumes", runId: asked.runId }
          : { kind: "waits", output: askingResult("question") };
      },
      asking: (run, isNew) => {
        const log = new RunLog(database, clock);
        return {
          record: log.of(run.ledgerKey, isNew),
          accept: () => {},
          prepare: (question) =>
            Promise.resolve(
              rig.isNobodyThere
                ? "nobody"
                : {
                    store: ({ entry, position }, withIt) => {
                      log.makeTable();
                      database.transaction(() => {
                        log.open(run.ledgerKey, position, entry);
                        withIt();
                      });
                      const { ledgerKey, runId } = run;
                      rig.asked.push({ question, position, entry, runId, ledgerKey, toolCallId });
                      return askingResult("question");
                    },
                  },
            ),
        };
      },
      onInvalidInput: () => {},
      onInvalidOutput: (_name, problem) => {
        rig.outputs.push(problem);
      },
      onResult: (_name, shown) => {
        rig.results.push(shown);
      },
      onFailure: (_name, error) => {
        rig.failures.push(error);
      },
    };
    const action = typeof given === "function" ? given(database) : given;
    const request = { name: "refund", action, input, requestId: turnId, toolCallId, messages: [], signal };
    try {
      const ledger = new LocalLedger(database, { clock, newId: () => `run-${(ids += 1)}` });
      const remote: ActionLedger = {
        claim: async (asked) => ledger.claim(asked),
        look: async (...asked) => ledger.look(...asked),
        end: async (key, runId, end, withIt) => {
          ledger.end(key, runId, end);
          await Promise.resolve();
          withIt?.();
        },
        again: async (...run) => ledger.again(...run),
      };
      return await runAction({ ...host, ledger: () => (rig.isLedgerRemote ? remote : ledger) }, request);
    } catch (error) {
      if (life === born) throw error;
      return killed;
    }
  };
  return rig;
}

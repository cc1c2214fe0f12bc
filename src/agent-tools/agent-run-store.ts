import { z } from "zod";
import type { Database } from "../core/store/database.ts";
import { checked, defineTable, encoded, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import type { RunEnded, RunRequest } from "./agent-tool-calls.ts";

/**
 * - `starting`: stored, and its agent may not know it
 * - `running`: its agent has stored it
 * - `ending`: nobody wants it any more, and its agent may not know that
 * - `ended`: over
 */
const stateSchema = z.enum(["starting", "running", "ending", "ended"]);

const parsed = <T>(): ReturnType<typeof encoded<T>> => encoded<T>((stored) => JSON.parse(stored) as T);

/** What follows from the end of a run that nobody waits for. */
export interface AfterEnd {
  /** Whether the conversation gets a turn about it. */
  readonly notify: boolean;
  /** The method of the bot's class that is called. */
  readonly onFinish?: string | undefined;
  /** Whether its call has ended because it waits for people whom its agent has asked. */
  readonly isWaiting?: boolean | undefined;
}

/** Runs of other agents that calls of this object have begun. */
const RUNS = defineTable(
  "agent_run_v1",
  {
    id: text("PRIMARY KEY"),
    agentClass: text("NOT NULL"),
    /** The agent as people know it. */
    agent: text("NOT NULL"),
    /** The turn whose call it is. `""` outside of turns. */
    requestId: text("NOT NULL"),
    toolCallId: text("NOT NULL"),
    /** Until its agent has stored it. */
    request: parsed<RunRequest>()(),
    /** For whom and where the call runs. */
    facts: parsed<CallFacts>()("NOT NULL"),
    /** Undefined: somebody waits for its result. */
    afterEnd: parsed<AfterEnd>()(),
    state: checked(stateSchema)("NOT NULL"),
    end: parsed<RunEnded>()(),
    /** Whether everybody who has to hear of the end has. */
    isTold: flag("NOT NULL"),
    createdAt: integer("NOT NULL"),
    endedAt: integer(),
  },
  "STRICT, WITHOUT ROWID",
  { agent_run_v1_open: "(created_at) WHERE is_told = 0", agent_run_v1_request: "(request_id)" },
);

export type AgentRun = RowOf<typeof RUNS>;
export type NewAgentRun = Omit<AgentRun, "state" | "end" | "isTold" | "createdAt" | "endedAt">;

export class AgentRunStore {
  readonly #runs: Table<typeof RUNS>;

  constructor(database: Database) {
    this.#runs = lazyTable(database, RUNS);
  }

  get(id: string): AgentRun | undefined {
    return this.#runs.first("WHERE id = ?", id);
  }

  all(): AgentRun[] {
    return this.#runs.all("ORDER BY created_at");
  }

  /** Returns the runs that are not over, or of whose end not everybody has heard, oldest first. */
  open(): AgentRun[] {
    return this.#runs.all("WHERE is_told = 0 ORDER BY created_at");
  }

  ofRequest(requestId: string): AgentRun[] {
    return this.#runs.all("WHERE request_id = ? ORDER BY created_at", requestId);
  }

  insert(run: NewAgentRun, now: number): void {
    this.#runs.make();
    this.#runs.insert({ ...run, state: "starting", isTold: false, createdAt: now });
  }

  /** Stores that the agent knows the run, unless nobody wants it any more. */
  begun(id: string): void {
    this.#runs.update({ state: "running", request: undefined }, "WHERE id = ? AND state = 'starting'", id);
  }

  /** Stores that a run goes on after its call, whose turn must not wait for people. */
  goOn(id: string): void {
    const afterEnd = { notify: true, isWaiting: true };
    this.#runs.update({ afterEnd }, "WHERE id = ? AND after_end IS NULL AND state = 'running'", id);
  }

  /** Stores that nobody wants a run any more. Returns `false` if it is over, or was ended before. */
  leave(id: string, end: RunEnded): boolean {
    const state = this.get(id)?.state;
    if (state !== "starting" && state !== "running") return false;
    this.#runs.update({ state: "ending", end }, "WHERE id = ?", id);
    return true;
  }

  /** Stores the end of a run. The first one counts. */
  ended(id: string, end: RunEnded, now: number): void {
    this.#runs.update(
      { state: "ended", end, endedAt: now, request: undefined },
      "WHERE id = ? AND state <> 'ended'",
      id,
    );
  }

  told(id: string): void {
    this.#runs.update({ isTold: true }, "WHERE id = ?", id);
  }

  remove(id: string): void {
    this.#runs.delete("WHERE id = ?", id);
  }
}

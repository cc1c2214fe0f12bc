import type { PromptMetadata } from "../core/turn-info.ts";
import { answeredOwner } from "../messengers/turns/turn-attachments.ts";
import type { ParkedCall, ParkedCallStore } from "../replay/parked-call-store.ts";
import type { AskedId, RunQuestion, RunQuestions } from "../scheduled-runs/run-questions.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { contextOf } from "./call-context.ts";
import type { Questions } from "./questions.ts";

/** The questions of actions, as those see them who follow the run of a schedule. Approvals tell of calls with consent. */
export class QuestionsOfRuns implements RunQuestions {
  readonly #host: Pick<QuestionsHost, "database" | "runs">;
  readonly #questions: Questions;
  readonly #calls: ParkedCallStore;

  constructor(host: Pick<QuestionsHost, "database" | "runs">, questions: Questions, calls: ParkedCallStore) {
    this.#host = host;
    this.#questions = questions;
    this.#calls = calls;
  }

  ofTurn(turnId: string): readonly RunQuestion[] {
    return this.#calls.ofTurn(turnId).filter(isOfTurn).map(runQuestionOf);
  }

  waitingIn(turnId: string): AskedId | undefined {
    const call = this.#calls.ofTurn(turnId).find(({ state }) => state === "asking");
    return call && { parkedId: call.id };
  }

  askedBy({ parkedCall }: PromptMetadata): string | undefined {
    return typeof parkedCall === "string" ? this.#calls.get(parkedCall)?.requestId : undefined;
  }

  /** The calls go on without an answer, as after `/stop`. */
  dropRun(turnId: string): void {
    const { database, runs } = this.#host;
    for (const question of this.#questions.store.open()) {
      const asked = question.call && this.#calls.get(question.call.id);
      if (asked === undefined || runs.rootOf(asked.requestId) !== turnId) continue;
      database.transaction(() => this.#questions.close(question, "declined"));
    }
  }
}

function isOfTurn(call: ParkedCall): boolean {
  return contextOf(call).owner === undefined;
}

function runQuestionOf({ id, isTold, state }: ParkedCall): RunQuestion {
  const known = { ending: undefined, outcomeKey: answeredOwner(id) };
  if (state === "asking") return { ...known, state: "waiting" };
  return { ...known, state: isTold ? "over" : "open" };
}

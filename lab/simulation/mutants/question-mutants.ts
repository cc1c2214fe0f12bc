import type { Mutant } from "../machine/mutant.ts";
import type { SqlValue } from "../../../src/core/store/database.ts";
import type { FormState } from "../../../src/forms/form.ts";
import { changingInserts, given } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of questions from inside actions. */
export const questionMutants: readonly Mutant[] = [
  {
    name: "bystander-answers",
    what: "a press answers a question whoever makes it",
    needs: "questions",
    threadDatabase: (database) =>
      changingInserts(database, "question_v1", "asked_in", (askedIn) =>
        askedIn.replaceAll(/"userId":"\d+",?/g, ""),
      ),
  },
  {
    name: "answer-not-recorded",
    what: "the answer to a question is not stored in the log of its run",
    needs: "questions",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) =>
          statement.includes("INSERT INTO run_log_v1") &&
          bindings.includes("question") &&
          typeof given(statement, bindings, "result") === "string",
      ),
  },
  {
    name: "step-not-recorded",
    what: "the result of a step is not stored",
    needs: "questions",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) => statement.includes("INSERT INTO run_log_v1") && bindings.includes("step"),
      ),
  },
  {
    name: "answer-lost-by-crash",
    what: "a call whose answer is stored does not go on after a restart",
    needs: "questions",
    onThreadStart: (database) => {
      const tables = database.all("SELECT 1 FROM sqlite_master WHERE name = 'parked_call_v1'");
      if (tables.length > 0)
        database.run("UPDATE parked_call_v1 SET state = 'asking' WHERE state IN ('ready', 'running')");
    },
  },
  {
    name: "text-of-bystander-answers",
    what: "in a group a message answers a question whoever writes it",
    needs: "fill-in",
    event: (event) => {
      const { author, message } = event;
      const isReply = message?.quoted?.isFromBot === true && author?.userId === "8";
      return isReply ? { ...event, author: { userId: "7", fullName: "Ada" } } : event;
    },
  },
  {
    name: "any-text-answers",
    what: "in a group a message is the answer to a question that it does not quote",
    needs: "fill-in",
    threadDatabase: (database) =>
      changingInserts(database, "question_v1", "asked_in", (askedIn) =>
        askedIn.replaceAll('"isDirectMessage":false', '"isDirectMessage":true'),
      ),
  },
  {
    name: "answer-to-earlier-question",
    what: "a message answers the first of several open questions, and not the newest one",
    needs: "fill-in",
    threadDatabase: (database) => ({
      all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
        const rows = database.all<Row>(statement, ...bindings);
        return statement.includes("question_v1 WHERE is_delivered = 0") ? rows.toReversed() : rows;
      },
      run: (statement, ...bindings) => database.run(statement, ...bindings),
      transaction: (body) => database.transaction(body),
    }),
  },
  {
    name: "field-lost-on-the-way-back",
    what: "a form forgets the value of the field to which a person goes back",
    needs: "fill-in",
    threadDatabase: (database) => ({
      all: (statement, ...bindings) => database.all(statement, ...bindings),
      run: (statement, ...bindings) =>
        database.run(
          statement,
          ...(statement.startsWith("UPDATE question_v1 SET") ? bindings.map(withoutAsked) : bindings),
        ),
      transaction: (body) => database.transaction(body),
    }),
  },
  {
    name: "hinted-again",
    what: "each message that is no answer is told to be none, and not only the first one",
    needs: "fill-in",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) =>
        statement.startsWith("UPDATE question_v1 SET is_hinted = ? WHERE"),
      ),
  },
];

/** The fields of the form that people fill in, in order. */
const FIELDS = ["size", "note", "count", "day"];

/** Returns stored states of a form without the values of the fields that they ask for. */
function withoutAsked(binding: SqlValue): SqlValue {
  if (typeof binding !== "string" || !binding.startsWith('[{"at":')) return binding;
  const states = JSON.parse(binding) as FormState[];
  const forgotten = states.map((state) => {
    const asked = state.at.kind === "field" ? FIELDS[state.at.index] : undefined;
    const values = Object.entries(state.values).filter(([name]) => name !== asked);
    return { ...state, values: Object.fromEntries(values) };
  });
  return JSON.stringify(forgotten);
}

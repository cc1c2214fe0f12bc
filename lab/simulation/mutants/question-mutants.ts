import type { Mutant } from "../machine/mutant.ts";
import { given, giving } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of questions from inside actions. */
export const questionMutants: readonly Mutant[] = [
  {
    name: "bystander-answers",
    what: "a press answers a question whoever makes it",
    needs: "questions",
    threadDatabase: (database) => ({
      all: (statement, ...bindings) => database.all(statement, ...bindings),
      transaction: (body) => database.transaction(body),
      run: (statement, ...bindings) => {
        const askedIn = statement.includes("INSERT INTO question_v1")
          ? given(statement, bindings, "asked_in")
          : undefined;
        if (typeof askedIn !== "string") return database.run(statement, ...bindings);
        const anyone = askedIn.replaceAll(/"userId":"\d+",?/g, "");
        return database.run(statement, ...giving(statement, bindings, "asked_in", anyone));
      },
    }),
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
];

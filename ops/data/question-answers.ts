import { changeRows, rowsOf } from "./object-store.ts";
import type { Row, RowChange } from "./object-store.ts";
import { textOf } from "./mentions.ts";
import { namesOne } from "./targets.ts";

/** Has the answers of people without their ids. The questions name both. */
const RUN_LOG = "run_log_v1";
const CALLS = "parked_call_v1";
const NOBODY = JSON.stringify({ why: "nobody" });

interface AskingCall {
  readonly id: string;
  readonly ledgerKey: string;
  readonly position: number;
}

/** Returns whether a row is the answer to a question that names one of the ids. */
export function answersOf(file: string, ids: ReadonlySet<string>): (table: string, row: Row) => boolean {
  const places = placesOf(questionsOf(file, ids));
  return (table, row) => table === RUN_LOG && places.has(placeOf(row));
}

/**
 * Takes a person or a chat out of the calls that go on without them: their answers become `nobody`, also those that
 * nobody has given yet, and results of steps that name them become `null`. A place of the log that is gone would be
 * asked or done a second time. Returns whether a row stays for that.
 */
export function blankAnswers(file: string, ids: ReadonlySet<string>): (table: string, row: Row) => boolean {
  const questions = questionsOf(file, ids);
  const open = new Set(callsOf(questions.filter(({ end = null }) => end === null)).map(({ id }) => id));
  const places = placesOf(questions);
  const log = rowsOf(file, RUN_LOG);
  const changes = rowsOf(file, CALLS)
    .filter((call) => Number(call["is_told"]) === 0 && !names(call, ids))
    .flatMap(({ id = null, ledger_key: run = null, state = null }): RowChange[] => {
      const entries = log.filter(
        (row) => row["run"] === run && (places.has(placeOf(row)) || names(row, ids)),
      );
      const blanked = entries.map(({ kind = null, position = null }): RowChange => {
        const values = { result: kind === "step" ? "null" : NOBODY, label: "" };
        return { table: RUN_LOG, key: { run, position }, values };
      });
      const goesOn = state === "asking" && open.has(textOf(id));
      return goesOn ? [...blanked, { table: CALLS, key: { id }, values: { state: "ready" } }] : blanked;
    });
  changeRows(file, changes);
  const kept = new Set(changes.filter(({ table }) => table === RUN_LOG).map(({ key }) => placeOf(key)));
  return (table, row) => table === RUN_LOG && kept.has(placeOf(row));
}

function questionsOf(file: string, ids: ReadonlySet<string>): Row[] {
  return rowsOf(file, "question_v1").filter((row) => names(row, ids));
}

function callsOf(questions: readonly Row[]): AskingCall[] {
  return questions.flatMap(({ call = null }) =>
    call === null ? [] : [JSON.parse(textOf(call)) as AskingCall],
  );
}

function placesOf(questions: readonly Row[]): ReadonlySet<string> {
  return new Set(callsOf(questions).map(({ ledgerKey, position }) => `${ledgerKey} ${position}`));
}

function placeOf(row: Row): string {
  return `${textOf(row["run"])} ${textOf(row["position"])}`;
}

function names(row: Row, ids: ReadonlySet<string>): boolean {
  return Object.values(row).some((value) => namesOne(value, ids));
}

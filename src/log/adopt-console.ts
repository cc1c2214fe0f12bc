import { failureFields, isLogged } from "../core/time/bot-code.ts";
import type { Log, LogFields } from "../core/base/log.ts";

/**
 * Beginnings of the lines that the `agents` package prints. It has no logger to replace, and prints whole errors, whose
 * messages may quote a chat (I10).
 */
const PRINTED_BY_AGENTS =
  /^(?:A )?ThinkHarness |^A session watcher failed|^\[(?:Agents?|agents|Sessions|ResumableStream)\] ?|^error (?:executing|dispatching scheduled) callback |^(?:callback .{1,100} not found$|Malformed schedule job )|^Error (?:in streaming method |on websocket connection:|on server:)|^RPC error:|^Override onError\(/;

const OPERATION = /^ThinkHarness operation (\S{1,100}) failed/;

/** Functions that `adoptConsole` has installed. */
const adopted = new WeakSet<object>();

/**
 * Turns the console output of the `agents` package into lines of the log. Other output is printed unchanged. A failure
 * that is in the log already gets no second line. May be called repeatedly.
 */
export function adoptConsole(target: Pick<Console, "error" | "warn">, log: Log): void {
  for (const level of ["error", "warn"] as const) {
    const print = target[level];
    if (adopted.has(print)) continue;
    const take = (...values: readonly unknown[]): void => {
      const [words, ...details] = values;
      if (typeof words !== "string" || !PRINTED_BY_AGENTS.test(words)) {
        print.apply(target, values as unknown[]);
        return;
      }
      const error = details.find((detail) => detail instanceof Error);
      if (error !== undefined && isLogged(error)) return;
      const fields = { ...fieldsOf(words), ...(error !== undefined && failureFields(log, error)) };
      const message = error === undefined ? log.reveal(textOf(values)) : fields.message;
      if (level === "error") log.error("agents.failed", { ...fields, message });
      else log.warn("agents.warning", { ...fields, message });
    };
    adopted.add(take);
    target[level] = take;
  }
}

/** Returns the fixed words of a line. Names in quotes and text after a colon may come from a person. */
function fieldsOf(words: string): LogFields {
  const turn = OPERATION.exec(words)?.[1];
  const plain = turn === undefined ? words : words.replace(turn, "");
  const about = /^[A-Za-z[\] ]*/.exec(plain)?.[0].replaceAll(/ +/g, " ").trim();
  return { about, turn };
}

function textOf(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === "string" ? value : typeof value)).join(" ");
}

import type { CommandIo } from "./command-io.ts";

/** Output of a command: for a person, or for a program that gave `--json`. */
export interface Report {
  /** Tells a person about progress. With `--json`, the line goes to standard error. */
  say(line: string): void;
  /**
   * Prints the result of the command: the lines, or with `--json` one line of JSON. A command prints one result at
   * most.
   */
  result(value: object, lines: readonly string[]): void;
}

export function createReport(
  io: Pick<CommandIo, "write" | "writeError">,
  options: { readonly json?: boolean },
): Report {
  const isJson = options.json === true;
  return {
    say: (line) => (isJson ? io.writeError : io.write)(`${line}\n`),
    result(value, lines) {
      if (isJson) io.write(`${JSON.stringify(value)}\n`);
      else for (const line of lines) io.write(`${line}\n`);
    },
  };
}

import { CommanderError } from "commander";
import { ServeError } from "../ops/serve/serve-error.ts";
import { CommandError, ReportedFailure } from "./command-error.ts";
import type { CommandIo } from "./command-io.ts";
import { createProgram } from "./program.ts";

/** Exit codes of the command. */
export const EXIT = {
  done: 0,
  /** The command failed. Its message says why and what to do. */
  failed: 1,
  /** The command line cannot be understood. */
  usage: 2,
} as const;

/**
 * Runs one command line, and returns its exit code. Never throws. With `--json` a failure is one line on standard
 * output: `{"error":{"code":"…","message":"…"}}`.
 */
export async function runCommand(parameters: readonly string[], io: CommandIo): Promise<number> {
  const isJson = parameters.includes("--json");
  try {
    const program = await createProgram(io, parameters[0]);
    await program.parseAsync([...parameters], { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.done;
      // Commander has written its message for people.
      if (isJson) writeFailure(io, "usage", usageWords(error));
      return EXIT.usage;
    }
    if (error instanceof ReportedFailure) return EXIT.failed;
    const { code, message } = describe(error, io);
    if (isJson) writeFailure(io, code, message);
    else io.writeError(`${message}\n`);
    return EXIT.failed;
  }
}

function writeFailure(io: CommandIo, code: string, message: string): void {
  io.write(`${JSON.stringify({ error: { code, message } })}\n`);
}

function usageWords({ code, message }: CommanderError): string {
  return code === "commander.help"
    ? "No command was given. --help lists the commands."
    : message.replace(/^error: /, "");
}

function describe(error: unknown, io: CommandIo): { readonly code: string; readonly message: string } {
  if (error instanceof CommandError || error instanceof ServeError) {
    return { code: error.code, message: error.message };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const hint = io.environment.DEBUG === "1" ? `\n${stack ?? ""}` : " (DEBUG=1 shows where)";
  return { code: "unexpected", message: `Unexpected error: ${message}${hint}` };
}

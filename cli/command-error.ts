/** A problem that the person at the command line can fix. The message says what happened and what to do. */
export class CommandError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "CommandError";
    this.code = code;
  }
}

/** Ends a command with exit code 1. Its result, which is written already, says why. */
export class ReportedFailure extends CommandError {
  constructor() {
    super("reported", "The reason is in the result.");
    this.name = "ReportedFailure";
  }
}

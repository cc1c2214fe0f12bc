/** Everything of the process that a command may use, so that a test can run it without one. */
export interface CommandIo {
  /** The folder in which the command was started. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person can be asked: both ends are a terminal. */
  readonly isInteractive: boolean;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
  /** Writes to standard error. */
  readonly writeError: (text: string) => void;
}

export function processIo(): CommandIo {
  return {
    folder: process.cwd(),
    environment: process.env,
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  };
}

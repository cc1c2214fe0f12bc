/** A problem that the operator can fix. The message tells what happened and what to do; no stack is shown. */
export class ServeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ServeError";
    this.code = code;
  }
}

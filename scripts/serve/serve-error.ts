/** Something the operator can mend. The message says what happened and what to do; no stack is shown. */
export class ServeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "ServeError";
    this.code = code;
  }
}

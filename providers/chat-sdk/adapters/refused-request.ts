/** A request that the platform has refused. Has no address, which may hold a token. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** The platform's answer. Never logged. */
  readonly body: string;

  /** @param body the text of the response */
  constructor({ headers, status }: Response, body: string) {
    super(`The platform answered ${status}.`);
    this.name = "RefusedRequest";
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

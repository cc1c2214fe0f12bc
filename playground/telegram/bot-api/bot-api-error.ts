/** What the Bot API answers beside the error's text: `retry_after` in seconds, or where a group moved to. */
export interface ResponseParameters {
  readonly retry_after?: number;
  readonly migrate_to_chat_id?: number;
}

/** A refusal in the Bot API's own words: `description` is what the bot reads. */
export class BotApiError extends Error {
  readonly errorCode: number;
  readonly description: string;
  readonly parameters: ResponseParameters | undefined;

  constructor(errorCode: number, description: string, parameters?: ResponseParameters) {
    super(description);
    this.name = "BotApiError";
    this.errorCode = errorCode;
    this.description = description;
    this.parameters = parameters;
  }
}

export function badRequest(reason: string): BotApiError {
  return new BotApiError(400, `Bad Request: ${reason}`);
}

export function forbidden(reason: string): BotApiError {
  return new BotApiError(403, `Forbidden: ${reason}`);
}

export function tooManyRequests(retryAfterSeconds: number): BotApiError {
  return new BotApiError(429, `Too Many Requests: retry after ${retryAfterSeconds}`, {
    retry_after: retryAfterSeconds,
  });
}

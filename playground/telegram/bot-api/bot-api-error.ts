/** Additional fields of the Bot API's error: `retry_after` in seconds, or the new id of a group that moved. */
export interface ResponseParameters {
  readonly retry_after?: number;
  readonly migrate_to_chat_id?: number;
}

/** A refusal with the Bot API's wording. The bot reads `description`. */
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

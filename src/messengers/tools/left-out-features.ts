import { ConfigurationError } from "../../core/errors.ts";

/** An action needs approvals, and the bot has none. */
export function nobodyAsked(what: string): ConfigurationError {
  return new ConfigurationError(
    "approvals-missing",
    `${what} asks people for approval, and this bot was built without approvals. It never runs unasked.`,
  );
}

/** An action asks people, and the bot has no questions. */
export function nobodyAnswers(): ConfigurationError {
  return new ConfigurationError(
    "questions-missing",
    "An action asks a person something, and this bot was built without questions.",
  );
}

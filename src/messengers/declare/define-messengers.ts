import { checkDelivery } from "./check-delivery.ts";
import { checkOptions } from "./check-options.ts";
import { ConfigurationError } from "../../core/errors.ts";
import type {
  MessengerConversation,
  MessengerDefinition,
  MessengerRespondTo,
  ThinkMessengers,
} from "../../core/messenger.ts";

/** A definition with every default filled in. */
export interface NormalizedMessengerDefinition extends MessengerDefinition {
  readonly id: string;
  readonly path: string;
  readonly adapterName: string;
  readonly respondTo: readonly MessengerRespondTo[];
  readonly subscribeOnMention: boolean;
  readonly conversation: MessengerConversation;
  readonly acceptsMedia: readonly string[];
  readonly maxMediaBytes: number;
  readonly burstMs: number;
  readonly whenBusy: "queue" | "steer" | "interrupt";
  readonly rerunOnEdit: boolean;
  readonly staleAfterMs: number;
  readonly inboxLimit: number;
}

const RESPOND_TO: readonly MessengerRespondTo[] = [
  "direct-message",
  "mention",
  "subscribed-thread",
  "action",
];
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Checks the messengers of a bot and returns them as they are.
 *
 * @throws {ConfigurationError} when a declaration is wrong; the message says which one and how to put it right.
 * @example
 * getMessengers() {
 *   return defineMessengers({ telegram: telegramMessenger({ token, secretToken }) });
 * }
 */
export function defineMessengers<const Messengers extends ThinkMessengers>(
  messengers: Messengers,
): Messengers {
  normalizeMessengers(messengers);
  return messengers;
}

/**
 * Fills in the defaults of every messenger.
 *
 * @throws {ConfigurationError} as `defineMessengers`.
 */
export function normalizeMessengers(messengers: ThinkMessengers): NormalizedMessengerDefinition[] {
  requireRecord(messengers);
  const normalized = Object.entries(messengers).map(([id, definition]) => normalize(id, definition));
  requireUnique(normalized, "path", (definition) => definition.path);
  requireUnique(normalized, "adapterName", (definition) => definition.adapterName);
  return normalized;
}

function normalize(id: string, definition: MessengerDefinition): NormalizedMessengerDefinition {
  if (!ID.test(id)) {
    throw new ConfigurationError(
      "messenger-id-invalid",
      `The messenger id "${id}" is not allowed. Use 1 to 64 letters, digits, "-" and "_", beginning with a letter or digit.`,
    );
  }
  requireDefinition(id, definition);
  checkOptions(id, definition);
  const path = definition.path ?? `/messengers/${id}/webhook`;
  checkPath(id, path);
  checkReserved(id, path);
  const respondTo = definition.respondTo ?? ["direct-message", "mention"];
  for (const kind of respondTo) {
    if (!RESPOND_TO.includes(kind)) {
      throw new ConfigurationError(
        "messenger-respond-to-invalid",
        `respondTo of the messenger "${id}" contains "${kind}". Use any of: ${RESPOND_TO.join(", ")}.`,
      );
    }
  }
  if (definition.verifyWebhook === undefined && definition.platform.verification.kind === "none") {
    throw new ConfigurationError(
      "messenger-verification-missing",
      `The messenger "${id}" does not say how its webhook is verified. Set verifyWebhook to a function, or to false to accept every request.`,
    );
  }
  for (const [name, value] of Object.entries(definition.limits ?? {})) {
    if (value !== undefined) positive(id, `limits.${name}`, value as number, Infinity);
  }
  oneOf(id, "whenBusy", definition.whenBusy, ["queue", "steer", "interrupt"]);
  checkDelivery(id, definition.delivery);
  return {
    ...definition,
    id,
    path,
    adapterName:
      definition.adapterName ??
      (id === definition.platform.provider ? id : `${definition.platform.provider}:${id}`),
    respondTo,
    subscribeOnMention: definition.subscribeOnMention ?? true,
    conversation: definition.conversation ?? "thread",
    verifyWebhook: definition.verifyWebhook,
    acceptsMedia: definition.acceptsMedia ?? ["image/*"],
    maxMediaBytes: positive(id, "maxMediaBytes", definition.maxMediaBytes, 10 * 1024 * 1024),
    burstMs: notNegative(id, "burstMs", definition.burstMs, 1000),
    whenBusy: definition.whenBusy ?? "queue",
    rerunOnEdit: definition.rerunOnEdit ?? false,
    staleAfterMs: positive(id, "staleAfterMs", definition.staleAfterMs, 24 * 60 * 60 * 1000),
    inboxLimit: positive(id, "inboxLimit", definition.inboxLimit, 100),
  };
}

const EXAMPLE =
  "return defineMessengers({ telegram: telegramMessenger({ token: this.env.TELEGRAM_BOT_TOKEN, secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN }) });";

/**
 * Checks that there is a record of messengers. The types promise it, but plain JavaScript or a forgotten `return` can
 * break it.
 */
function requireRecord(messengers: unknown): void {
  if (typeof messengers === "object" && messengers !== null && !Array.isArray(messengers)) {
    if (!(messengers instanceof Promise)) return;
    throw new ConfigurationError(
      "messengers-missing",
      `getMessengers() returns a promise, and nobody waits for it. Take the word async away, and end it with: ${EXAMPLE}`,
    );
  }
  const what = Array.isArray(messengers) ? "a list" : String(messengers);
  throw new ConfigurationError(
    "messengers-missing",
    `getMessengers() returns ${what}, where an object with a messenger for each id is expected. End it with: ${EXAMPLE}`,
  );
}

function requireDefinition(id: string, definition: unknown): void {
  if (typeof definition === "object" && definition !== null && "platform" in definition) return;
  throw new ConfigurationError(
    "messenger-missing",
    `The messenger "${id}" is not a messenger definition. Give it what a factory returns, for example: ${id}: telegramMessenger({ token, secretToken })`,
  );
}

/** Returns the error of a bot without a messenger. */
export function noMessengers(): ConfigurationError {
  return new ConfigurationError(
    "messengers-missing",
    `The bot has no messenger, so that nobody can write to it. Write in its class: getMessengers() { ${EXAMPLE} }`,
  );
}

function checkPath(id: string, path: string): void {
  if (!path.startsWith("/")) {
    throw new ConfigurationError(
      "messenger-path-invalid",
      `The path "${path}" of the messenger "${id}" must begin with "/", for example "/${path}".`,
    );
  }
  if (/[?#]/.test(path)) {
    throw new ConfigurationError(
      "messenger-path-invalid",
      `The path "${path}" of the messenger "${id}" must not contain "?" or "#": only the path is compared.`,
    );
  }
}

/** Checks that a webhook's path is not one that other requests use. */
function checkReserved(id: string, path: string): void {
  if (path !== "/health" && path !== "/health/live" && !/^\/agents(?:\/|$)|\/sub(?:\/|$)/.test(path)) return;
  throw new ConfigurationError(
    "messenger-path-invalid",
    `The path "${path}" of the messenger "${id}" is taken: choose one that is neither "/health" nor "/health/live", does not begin with "/agents" and has no segment "sub".`,
  );
}

function requireUnique(
  definitions: readonly NormalizedMessengerDefinition[],
  field: "path" | "adapterName",
  valueOf: (definition: NormalizedMessengerDefinition) => string,
): void {
  const owners = new Map<string, string>();
  for (const definition of definitions) {
    const value = valueOf(definition);
    const owner = owners.get(value);
    if (owner !== undefined) {
      throw new ConfigurationError(
        field === "path" ? "messenger-path-duplicate" : "messenger-adapter-duplicate",
        `The messengers "${owner}" and "${definition.id}" both have the ${field} "${value}". Give one of them another ${field}.`,
      );
    }
    owners.set(value, definition.id);
  }
}

function oneOf(id: string, name: string, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new ConfigurationError(
    "messenger-option-invalid",
    `${name} of the messenger "${id}" is "${value}". Use one of: ${allowed.join(", ")}.`,
  );
}

function positive(id: string, name: string, value: number | undefined, fallback: number): number {
  const result = notNegative(id, name, value, fallback);
  if (result > 0) return result;
  throw new ConfigurationError(
    "messenger-option-invalid",
    `${name} of the messenger "${id}" must be more than 0.`,
  );
}

function notNegative(id: string, name: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (Number.isFinite(value) && value >= 0) return value;
  throw new ConfigurationError(
    "messenger-option-invalid",
    `${name} of the messenger "${id}" is ${String(value)}. It must be a number that is not negative.`,
  );
}

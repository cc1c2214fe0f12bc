import { checkOptions, isText } from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import type {
  MessengerConversation,
  MessengerDefinition,
  MessengerRespondTo,
  ThinkMessengers,
  UnconfiguredMessenger,
} from "../../core/chat/messenger.ts";
import { MESSENGER_OPTIONS } from "../../core/chat/messenger-options.ts";
import { silencePrompt } from "../../outgoing/index.ts";

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
const OPTIONS: OptionRules<MessengerDefinition> = { ...MESSENGER_OPTIONS, platform: true };
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

/** A messenger without its settings, by its key in `getMessengers()`. */
export interface LeftOutMessenger extends UnconfiguredMessenger {
  readonly id: string;
}

/** Returns the messengers that lack settings. */
export function leftOut(messengers: ThinkMessengers): readonly LeftOutMessenger[] {
  return Object.entries(messengers).flatMap(([id, given]) =>
    lacksSettings(given) ? [{ ...given, id }] : [],
  );
}

function lacksSettings(given: unknown): given is UnconfiguredMessenger {
  if (typeof given !== "object" || given === null || !("missing" in given)) return false;
  return Array.isArray(given.missing) && given.missing.length > 0 && given.missing.every(isText);
}

/**
 * Fills in the defaults of every messenger that has its settings.
 *
 * @throws {ConfigurationError} as `defineMessengers`.
 */
export function normalizeMessengers(messengers: ThinkMessengers): NormalizedMessengerDefinition[] {
  requireRecord(messengers);
  const normalized = Object.entries(messengers).flatMap(([id, given]) =>
    lacksSettings(given) ? [] : [normalize(id, given)],
  );
  requireUnique(normalized, "path", (definition) => definition.path);
  requireUnique(normalized, "adapterName", (definition) => definition.adapterName);
  return normalized;
}

function normalize(
  id: string,
  definition: MessengerDefinition | UnconfiguredMessenger,
): NormalizedMessengerDefinition {
  if (!ID.test(id)) {
    throw new ConfigurationError(
      "messenger-id-invalid",
      `The messenger id "${id}" is not allowed. Use 1 to 64 letters, digits, "-" and "_", beginning with a letter or digit.`,
    );
  }
  requireDefinition(id, definition);
  checkOptions(definition, OPTIONS, { owner: `the messenger "${id}"` });
  const { silence } = definition.delivery ?? {};
  if (typeof silence === "object") silencePrompt({ silence });
  const path = definition.path ?? `/messengers/${id}/webhook`;
  checkPath(id, path);
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
    acceptsMedia: definition.acceptsMedia ?? ["image/*"],
    maxMediaBytes: definition.maxMediaBytes ?? 10 * 1024 * 1024,
    burstMs: definition.burstMs ?? 1000,
    whenBusy: definition.whenBusy ?? "queue",
    rerunOnEdit: definition.rerunOnEdit ?? false,
    staleAfterMs: definition.staleAfterMs ?? 24 * 60 * 60 * 1000,
    inboxLimit: definition.inboxLimit ?? 100,
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

function requireDefinition(id: string, definition: unknown): asserts definition is MessengerDefinition {
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

/** Checks that a webhook's path is one, and not one that other requests use. */
function checkPath(id: string, path: string): void {
  const problem = pathProblem(path);
  if (problem !== undefined)
    throw new ConfigurationError(
      "messenger-path-invalid",
      `The path "${path}" of the messenger "${id}" ${problem}`,
    );
}

function pathProblem(path: string): string | undefined {
  if (!path.startsWith("/")) return `must begin with "/", for example "/${path}".`;
  if (/[?#]/.test(path)) return 'must not contain "?" or "#": only the path is compared.';
  if (path !== "/health" && path !== "/health/live" && !/^\/agents(?:\/|$)|\/sub(?:\/|$)/.test(path))
    return undefined;
  return 'is taken: choose one that is neither "/health" nor "/health/live", does not begin with "/agents" and has no segment "sub".';
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

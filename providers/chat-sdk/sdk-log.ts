import type { Logger } from "chat";
import type { Log } from "../../src/core/base/log.ts";
import { keepLoggedError } from "./errors/logged-error.ts";
import { isRecord } from "../../src/core/json/is-record.ts";

/**
 * Words of an adapter's log line that may be logged. All other words are removed, because a line may contain a chat, a
 * token or an address (I10).
 */
const technicalWords = new Set(
  `a accept account action adapter agent api app application assistant attachment auth authentication back be body bot
  cache call callback cannot card channel chat client command comment configured context could create credentials data
  decode decrypt delete detect disabled discord dm download draft due edit error event events expired expected external
  failed failure falling fetch file for forbidden format found from gateway github google graph handle handler handling id
  identity ignored ignoring in inbound incoming info initialized installation instagram instance interaction interactive
  invalid is json jwt key limit limited linear load lookup markdown media mention message messages messenger missing modal
  mode no not notion of on open operation options parse payload permission post process processing push rate reaction
  received refresh refused rejected reply request requests resolve response retry retrying returned rich secret send
  service session set signature skipped skipping slack slash socket status stream streaming subscription supported teams
  telegram the thread timed timeout timestamp to token type typing unauthorized unexpected unknown unsupported unverified
  update upload url user verification verifier verify view webhook whatsapp with without workspace x`.split(
    /\s+/,
  ),
);

/** A line about an id without which Google Chat's adapter works as well: mentions are read without it. */
const NEEDLESS = "Google Chat botUserId is not configured.";

/** Longest line of an adapter that is read, in characters. */
const maxLength = 300;

/**
 * Creates a logger for the SDK and its adapters. A line keeps its level and its technical words, and loses its
 * arguments.
 */
export function createSdkLogger(log: Log, provider: string): Logger {
  const logger: Logger = {
    child: () => logger,
    debug: () => undefined,
    info: () => undefined,
    warn(message) {
      if (message.startsWith(NEEDLESS)) return;
      log.warn("chat-sdk.warning", { provider, about: technicalWordsOf(message) });
    },
    error(message, ...words) {
      keepLoggedError(words);
      log.error("chat-sdk.error", { provider, about: technicalWordsOf(message) });
    },
  };
  return logger;
}

/** Turns "Failed to send message to Ada" into "failed to send message to …". */
function technicalWordsOf(message: unknown): string | undefined {
  if (typeof message !== "string") return undefined;
  const words = message.slice(0, maxLength).toLowerCase().split(/\s+/);
  const shown = words.map((word) => {
    const plain = word.replace(/^[("'[]+|[)"'\].,:;!?]+$/g, "");
    return technicalWords.has(plain) ? plain : "…";
  });
  const about = shown.filter((word, index) => word !== "…" || shown[index - 1] !== "…").join(" ");
  return about === "…" || about === "" ? undefined : about;
}

/** Deepest nesting below an adapter at which a logger is looked for. */
const maxDepth = 3;

/**
 * Replaces the loggers of an adapter and its parts, which by default write raw text to the console.
 *
 * A logger in a private field or a closure cannot be replaced. The SDK's own logger is silenced itself.
 */
export function adoptLogger(adapter: object, logger: Logger): void {
  const own: unknown = Reflect.getOwnPropertyDescriptor(adapter, "logger")?.value;
  const seen = new Set<unknown>([logger]);
  const visit = (part: object, depth: number): void => {
    if (seen.has(part) || depth > maxDepth) return;
    seen.add(part);
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
      if (value === logger || !isRecord(value) || ArrayBuffer.isView(value)) continue;
      try {
        if ((value === own && isLogger(value)) || isSdkLogger(value)) replace(part, name, value, logger);
        else visit(value, depth + 1);
      } catch {
        // A part that cannot be read or changed keeps its logger. The adapter works all the same.
      }
    }
  };
  visit(adapter, 0);
}

function replace(part: object, name: string, found: object, logger: Logger): void {
  Reflect.set(part, name, logger);
  // Also silences it for parts that hold a reference already.
  if (isSdkLogger(found)) Object.assign(found, logger);
}

function isLogger(value: object): boolean {
  return ["debug", "info", "warn", "error"].every((level) => typeof Reflect.get(value, level) === "function");
}

/** Recognizes the SDK's logger by name and shape, because a bundle may contain the SDK twice. */
function isSdkLogger(value: object): boolean {
  return isLogger(value) && "prefix" in value && "level" in value && "child" in value && "shouldLog" in value;
}

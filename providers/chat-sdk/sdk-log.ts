import type { Logger } from "chat";
import type { Log } from "../../src/core/log.ts";

/**
 * The words in which adapters say what is wrong. A line may hold what somebody wrote, a token or an address: nothing else
 * of it passes (I10).
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

/** Longest line of an adapter that is looked at, in characters. */
const maxLength = 300;

/** A logger for the SDK and its adapters: a line keeps its level and its technical words, and none of its arguments. */
export function createSdkLogger(log: Log, provider: string): Logger {
  const logger: Logger = {
    child: () => logger,
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => log.warn("chat-sdk.warning", { provider, about: technicalWordsOf(message) }),
    error: (message) => log.error("chat-sdk.error", { provider, about: technicalWordsOf(message) }),
  };
  return logger;
}

/** "Failed to send message to Ada" becomes "failed to send message to …". */
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

/** Deepest nesting below an adapter at which its parts hold a logger of their own. */
const maxDepth = 3;

/**
 * Gives an adapter, and the parts that it is made of, this logger in place of the one that it was constructed with: by
 * default that writes raw text to the console. A logger in a private field or in a closure stays, unless it is the one of
 * the SDK, which is silenced itself.
 */
export function adoptLogger(adapter: object, logger: Logger): void {
  const own: unknown = Reflect.getOwnPropertyDescriptor(adapter, "logger")?.value;
  const seen = new Set<unknown>([logger]);
  const visit = (part: object, depth: number): void => {
    if (seen.has(part) || depth > maxDepth) return;
    seen.add(part);
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
      if (!isObject(value) || ArrayBuffer.isView(value) || value === logger) continue;
      try {
        if ((value === own && isLogger(value)) || isSdkLogger(value)) replace(part, name, value, logger);
        else visit(value, depth + 1);
      } catch {
        // A part that cannot be looked into, or changed, keeps what it has: the adapter works all the same.
      }
    }
  };
  visit(adapter, 0);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function replace(part: object, name: string, found: object, logger: Logger): void {
  Reflect.set(part, name, logger);
  // Also for those who got hold of it before.
  if (isSdkLogger(found)) Object.assign(found, logger);
}

function isLogger(value: object): boolean {
  return ["debug", "info", "warn", "error"].every((level) => typeof Reflect.get(value, level) === "function");
}

/** By its name and form, as a bundle may hold the SDK twice. */
function isSdkLogger(value: object): boolean {
  return isLogger(value) && "prefix" in value && "level" in value && "child" in value && "shouldLog" in value;
}

import { withTimeLimit } from "../../../core/time/with-time-limit.ts";
import { MODEL_FAILED, MODEL_WORKED, PENALTY, WINDOW } from "../../../core/chat/figures.ts";
import type { Note } from "../../../core/chat/figures.ts";
import type { Deps } from "../../../core/base/deps.ts";
import type { WebhookReport } from "../../../core/chat/messenger.ts";
import type { DeclaredMessengers } from "../../declare/declared-messengers.ts";
import type { LeftOutMessenger, NormalizedMessengerDefinition } from "../../declare/define-messengers.ts";
import type { HealthWarning } from "./health-problem.ts";

export interface HealthWarningsOptions {
  readonly deps: Deps;
  readonly messengers: Pick<DeclaredMessengers, "context">;
  /** Runs work in the background. */
  readonly later: (work: () => Promise<void>) => void;
}

/** A failure of the model is told for this long, unless a later turn was answered. */
const MODEL_FAILURE_COUNTS_MS = 60 * 60_000;
/** A platform is asked about its deliveries at most this often, and only on a request to `/health`. */
const ASK_EVERY_MS = 60_000;
const CALL_LIMIT_MS = 5_000;
/** A failed delivery is told for this long after it, even if nothing waits. */
const RECENT_MS = 5 * 60_000;
/** A message that was refused for this reason is told for this long. */
const WINDOW_COUNTS_MS = 24 * 60 * 60_000;
/** Longest words of a platform in a warning. */
const MAX_WORDS = 200;

interface Known {
  readonly askedAt: number;
  readonly report: WebhookReport | undefined;
}

/**
 * Problems for an operator while the bot can still answer: with the model, the delivery of updates, and chats that must
 * wait. None of them makes `/health` fail.
 */
export class HealthWarnings {
  readonly #options: HealthWarningsOptions;
  /** The last answer of each platform about its webhook. */
  readonly #webhooks = new Map<string, Known>();
  #receivedAt = -Infinity;

  constructor(options: HealthWarningsOptions) {
    this.#options = options;
  }

  /** An update has arrived, so its webhook is set. */
  received(): void {
    this.#receivedAt = this.#now();
  }

  /**
   * Returns the warnings. A platform is asked in the background, so that no load balancer waits for it: its answer
   * counts at the next request.
   */
  list(
    definitions: readonly NormalizedMessengerDefinition[],
    notes: ReadonlyMap<string, Note>,
  ): HealthWarning[] {
    const now = this.#now();
    return [
      modelWarning(notes, now),
      ...definitions.map((definition) => this.#webhookWarning(definition)),
      penaltyWarning(notes, now),
      windowWarning(notes, now),
    ].filter((warning) => warning !== undefined);
  }

  #webhookWarning(definition: NormalizedMessengerDefinition): HealthWarning | undefined {
    const { id, platform } = definition;
    if (platform.checkWebhook === undefined) return undefined;
    const known = this.#webhooks.get(id);
    if (known === undefined || this.#now() - known.askedAt >= ASK_EVERY_MS) {
      this.#webhooks.set(id, { askedAt: this.#now(), report: known?.report });
      this.#options.later(() => this.#ask(definition));
    }
    const report = known?.report;
    if (report === undefined) return undefined;
    if (!report.isSet) {
      // Updates that arrive without a webhook come from long polling.
      if (this.#now() - this.#receivedAt < RECENT_MS) return undefined;
      return {
        code: "webhook-not-set",
        message: `The messenger "${id}" has no webhook, so no updates are delivered. Run: switchboard telegram setup --url https://<address of the bot>`,
      };
    }
    const { lastError, pending } = report;
    if (lastError === undefined) return undefined;
    if (pending === 0 && this.#now() - lastError.at > RECENT_MS) return undefined;
    const words = lastError.message.replaceAll(/\s+/g, " ").slice(0, MAX_WORDS);
    return {
      code: "webhook-failing",
      message: `The platform of the messenger "${id}" could not deliver an update at ${isoOf(lastError.at)}: ${words}. ${pending} wait. Run: switchboard telegram info`,
    };
  }

  async #ask(definition: NormalizedMessengerDefinition): Promise<void> {
    const { deps, messengers } = this.#options;
    const { id, platform } = definition;
    try {
      const report = await withTimeLimit(deps.clock, CALL_LIMIT_MS, async (signal) =>
        platform.checkWebhook?.(messengers.context(definition.id), signal),
      );
      this.#webhooks.set(id, { askedAt: this.#now(), report });
    } catch {
      // A refused token is a problem of its own, and a platform that does not answer says nothing about the webhook.
      this.#webhooks.set(id, { askedAt: this.#now(), report: undefined });
    }
  }

  #now(): number {
    return this.#options.deps.clock.now();
  }
}

export function leftOutWarning({ id, missing }: LeftOutMessenger): HealthWarning {
  return {
    code: "messenger-unconfigured",
    message: `The messenger "${id}" is left out. Set ${missing.join(", ")}: \`npx switchboard doctor\` says where to find the values.`,
  };
}

function modelWarning(notes: ReadonlyMap<string, Note>, now: number): HealthWarning | undefined {
  const failed = notes.get(MODEL_FAILED);
  if (failed === undefined || now - failed.at > MODEL_FAILURE_COUNTS_MS) return undefined;
  if ((notes.get(MODEL_WORKED)?.at ?? -Infinity) > failed.at) return undefined;
  return {
    code: failed.code,
    message: `The last call of the model failed at ${isoOf(failed.at)} (${failed.code}), and no answer was written since. The log has provider, model and status.`,
  };
}

function penaltyWarning(notes: ReadonlyMap<string, Note>, now: number): HealthWarning | undefined {
  const until = [...notes].flatMap(([name, { at }]) => (name.startsWith(PENALTY) && at > now ? [at] : []));
  if (until.length === 0) return undefined;
  return {
    code: "chats-in-penalty",
    message: `The platform makes ${until.length} ${until.length === 1 ? "chat" : "chats"} wait, the last one until ${isoOf(Math.max(...until))}. Answers there come later, and none is lost.`,
  };
}

function windowWarning(notes: ReadonlyMap<string, Note>, now: number): HealthWarning | undefined {
  const at = [...notes].flatMap(([name, note]) =>
    name.startsWith(WINDOW) && now - note.at <= WINDOW_COUNTS_MS ? [note.at] : [],
  );
  if (at.length === 0) return undefined;
  return {
    code: "window-closed",
    message: `Messages to ${at.length} ${at.length === 1 ? "chat" : "chats"} were not delivered, the last one at ${isoOf(Math.max(...at))}, because the person had not written for too long. Only templates of the platform arrive there until they write.`,
  };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

import type { Database } from "../../src/core/database.ts";
import type { ReplyPolicy } from "../../src/core/delivery.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { Log } from "../../src/core/log.ts";
import type { CallFailure, Surface } from "../../src/core/surface.ts";
import { replyFields } from "./reply-fields.ts";
import type { Reply } from "./reply.ts";
import type { ReplyStore } from "./reply-store.ts";
import { createRichRestStore } from "./rich-rest-store.ts";
import type { RichRestStore } from "./rich-rest-store.ts";

/** A server may be brought up to date; until then one reply in a while finds out that it was not. */
const REST_MS = 6 * 60 * 60 * 1000;
/** Shorter where it is only likely that the platform knows no rich messages: it may just have been in trouble. */
const DOUBT_REST_MS = 60 * 60 * 1000;
/** One such answer may be an accident. */
const MOST_RICH_DOUBTS = 2;

/**
 * What becomes of rich messages that a platform refuses: the same reply goes on as ordinary messages, and where it was
 * the platform that knows no such messages, the replies after it begin so. Stored with the reply, so that a crash
 * changes nothing about it.
 */
export class RichFallback {
  readonly #options: {
    readonly deps: Deps;
    readonly log: Log;
    readonly store: ReplyStore;
  };
  readonly #rests: RichRestStore;

  constructor(options: { database: Database; deps: Deps; log: Log; store: ReplyStore }) {
    this.#options = options;
    this.#rests = createRichRestStore(options.database);
  }

  /** The policy with which a reply begins now. */
  policyFor(messengerId: string, policy: ReplyPolicy): ReplyPolicy {
    if (policy.richMessages !== true || !this.#isResting(messengerId)) return policy;
    return { ...policy, richMessages: false };
  }

  /** A rich call failed with an answer that may mean that the platform knows no rich messages. */
  doubted(reply: Reply, surface: Surface, failure: CallFailure): void {
    reply.richDoubts += 1;
    if (reply.richDoubts >= MOST_RICH_DOUBTS) this.refused(reply, surface, failure);
  }

  /** Nothing of this reply is sent as a rich message any more. */
  refused(reply: Reply, surface: Surface, { code }: CallFailure): void {
    const { deps, log, store } = this.#options;
    const { id, address } = reply.record;
    const { messengerId } = address;
    const policy: ReplyPolicy = { ...reply.record.policy, richMessages: false };
    store.setPolicy(id, policy);
    reply.setPolicy(policy);
    const isDoubtful = code === surface.rich?.doubtfulCode;
    if (code !== surface.rich?.unsupportedCode && !isDoubtful) {
      log.warn("delivery.rich-refused", {
        ...replyFields(reply),
        code,
      });
      return;
    }
    if (this.#isResting(messengerId)) return;
    const restMs = isDoubtful ? DOUBT_REST_MS : REST_MS;
    this.#rests.rest(messengerId, deps.clock.now() + restMs);
    log.warn("delivery.rich-unsupported", { messenger: messengerId, code, restMs });
  }

  #isResting(messengerId: string): boolean {
    const until = this.#rests.restsUntil(messengerId);
    return until !== undefined && until > this.#options.deps.clock.now();
  }
}

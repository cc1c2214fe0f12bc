import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import { defineTable, integer, Table, text } from "../../src/core/store/table.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { Log } from "../../src/core/base/log.ts";
import type { CallFailure, Surface } from "../../src/core/chat/surface.ts";
import { replyFields } from "./reply-fields.ts";
import type { Reply } from "./reply.ts";
import type { ReplyStore } from "./reply-store.ts";

/** After this time one reply tries a rich message again, because the server may have been updated. */
const REST_MS = 6 * 60 * 60 * 1000;
/** A shorter time if the platform probably does not know rich messages, but may just have been in trouble. */
const DOUBT_REST_MS = 60 * 60 * 1000;
/** One such answer may be an accident, two are not. */
const MOST_RICH_DOUBTS = 2;

/** Messengers whose platform does not accept rich messages, and until when this is assumed. Most bots never need it. */
export const RICH_RESTS = defineTable(
  "rich_rest_v1",
  { messengerId: text("PRIMARY KEY"), until: integer("NOT NULL") },
  "WITHOUT ROWID",
);

/**
 * Handles refused rich messages. The same reply continues with ordinary messages. If the platform does not know rich
 * messages at all, later replies begin with ordinary ones. This is stored with the reply, so a crash changes nothing.
 */
export class RichFallback {
  readonly #options: { readonly deps: Deps; readonly log: Log; readonly store: ReplyStore };
  readonly #rests: Table<typeof RICH_RESTS>;

  constructor(options: { database: Database; deps: Deps; log: Log; store: ReplyStore }) {
    this.#options = options;
    this.#rests = new Table(new LazyTables(options.database, RICH_RESTS), RICH_RESTS);
  }

  /** Returns the policy with which a new reply begins. */
  policyFor(messengerId: string, policy: ReplyPolicy): ReplyPolicy {
    if (policy.richMessages !== true || !this.#isResting(messengerId)) return policy;
    return { ...policy, richMessages: false };
  }

  /** Notes an answer to a rich call that may mean that the platform does not know rich messages. */
  doubted(reply: Reply, surface: Surface, failure: CallFailure): void {
    reply.richDoubts += 1;
    if (reply.richDoubts >= MOST_RICH_DOUBTS) this.refused(reply, surface, failure);
  }

  /** Sends nothing of this reply as a rich message any more. */
  refused(reply: Reply, surface: Surface, { code }: CallFailure): void {
    const { deps, log, store } = this.#options;
    const { id, address } = reply.record;
    const { messengerId } = address;
    const policy: ReplyPolicy = { ...reply.record.policy, richMessages: false };
    store.setPolicy(id, policy);
    reply.setPolicy(policy);
    const isDoubtful = code === surface.rich?.doubtfulCode;
    if (code !== surface.rich?.unsupportedCode && !isDoubtful) {
      log.warn("delivery.rich-refused", { ...replyFields(reply), code });
      return;
    }
    if (this.#isResting(messengerId)) return;
    const restMs = isDoubtful ? DOUBT_REST_MS : REST_MS;
    this.#rests.put({ messengerId, until: deps.clock.now() + restMs });
    log.warn("delivery.rich-unsupported", { messenger: messengerId, code, restMs });
  }

  #isResting(messengerId: string): boolean {
    const until = this.#rests.first("WHERE messenger_id = ?", messengerId)?.until;
    return until !== undefined && until > this.#options.deps.clock.now();
  }
}

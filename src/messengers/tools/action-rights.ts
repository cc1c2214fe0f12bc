import {
  commonGrant,
  grantOf,
  holdersOf,
  missingPermissions,
  personName,
  turnContext,
} from "../../actions/declare/authorize.ts";
import type {
  ActionAuthorization,
  ActionCallContext,
  ActionTurnContext,
  TurnGrant,
} from "../../actions/declare/authorize.ts";
import type { AuthorizationRequest, AuthorizationResult } from "../../actions/runs/action-host.ts";
import { runBotCode } from "../../core/time/bot-code.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/chat/messenger-event.ts";
import type { ScheduleBinding } from "../../core/turn/schedule-binding.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { OutsideAsker } from "./outside-asker.ts";

/** For whom and where a call runs. */
export interface CallFacts {
  /** Everybody whose rights the call needs. Empty if no person began the turn. */
  readonly people: readonly MessengerAuthor[];
  /** The one of them who asked. */
  readonly person: MessengerAuthor | undefined;
  /** The chat that sees the answer. */
  readonly address: Address | undefined;
  readonly chat: MessengerThread | undefined;
  /** The schedule whose run it is. */
  readonly schedule?: ScheduleBinding | undefined;
  /** The private chat of the schedule's owner, if questions are asked there. */
  readonly askOwnerIn?: Address | undefined;
  /** Permissions that the call may use at most, whoever asks. @default all */
  readonly scopes?: readonly string[] | undefined;
  /** The other system that calls. */
  readonly outside?: OutsideAsker | undefined;
}

/** Facts of a call that are stored until it runs outside of its turn. Plain JSON. */
export type StoredFacts = Pick<CallFacts, "people"> & Partial<Omit<CallFacts, "people" | "chat" | "outside">>;

/** The methods of the bot's class that say who may do what. */
export interface RightsMethods {
  authorizeTurn(context: ActionTurnContext): ActionAuthorization;
  authorizeAction(context: ActionCallContext): ActionAuthorization;
}

export interface ActionRightsOptions {
  readonly agent: RightsMethods;
  readonly clock: Clock;
  readonly log: Log;
}

const DENIED: TurnGrant = { isAllowed: false, permissions: undefined, reason: undefined };

/**
 * The rights of turns and people, as the bot's own methods say. A method that fails allows nothing.
 *
 * `authorizeTurn` is asked once for each person of a turn. An action that somebody has agreed to is asked about again
 * right before it runs.
 */
export class ActionRights {
  readonly #options: ActionRightsOptions;
  /** The newest turn that was asked about. Turns run one at a time. */
  #newest: { readonly requestId: string; readonly grant: TurnGrant } | undefined;

  constructor(options: ActionRightsOptions) {
    this.#options = options;
  }

  /** Returns the common rights of all people of a turn. */
  async ofTurn(requestId: string, facts: CallFacts): Promise<TurnGrant> {
    if (this.#newest?.requestId === requestId) return this.#newest.grant;
    const grant = await this.#ask(requestId, facts);
    this.#newest = { requestId, grant };
    return grant;
  }

  /** Returns the rights of one person, asked now. */
  async ofPerson(
    requestId: string,
    person: MessengerAuthor | undefined,
    { address, chat }: Pick<CallFacts, "address" | "chat">,
  ): Promise<TurnGrant> {
    const context = turnContext({ requestId, person, chat, messengerId: address?.messengerId });
    try {
      return grantOf(
        await runBotCode(this.#options, "authorizeTurn", () => this.#options.agent.authorizeTurn(context)),
      );
    } catch {
      // The log has its reason.
      return DENIED;
    }
  }

  /** Decides whether a call may run. */
  async decide(
    { input, request, requiredPermissions }: AuthorizationRequest,
    facts: CallFacts,
  ): Promise<AuthorizationResult> {
    const { action, consent, name, requestId, toolCallId } = request;
    const grant =
      consent === undefined ? await this.ofTurn(requestId, facts) : await this.#ask(requestId, facts);
    const beyond = missingScopes(facts, requiredPermissions);
    if (beyond !== undefined) return { allowed: false, missing: beyond, reason: BEYOND_SCOPES };
    const missing = missingPermissions(grant, requiredPermissions);
    for (const person of peopleOf(facts)) {
      const context = {
        requestId,
        toolCallId,
        person,
        chat: facts.chat,
        messengerId: facts.address?.messengerId,
        action: name,
        kind: action.kind,
        input,
        requiredPermissions,
        grantedPermissions: grant.isAllowed ? grant.permissions : [],
        isGranted: missing === undefined,
      };
      let decided: TurnGrant;
      try {
        const { agent } = this.#options;
        decided = grantOf(
          await runBotCode(this.#options, "authorizeAction", () => agent.authorizeAction(context)),
        );
      } catch {
        decided = DENIED;
      }
      const lacking = missingPermissions(decided, requiredPermissions);
      if (lacking !== undefined || !decided.isAllowed) {
        const reason = decided.reason ?? grant.reason;
        const lacked = missing ?? (decided.isAllowed ? (lacking ?? []) : []);
        const holders = holdersOf(grant.people, lacked)?.map(
          (userId) => personName(grant.people, userId) ?? userId,
        );
        return { allowed: false, missing: lacked, reason, holders };
      }
    }
    return { allowed: true };
  }

  async #ask(requestId: string, facts: CallFacts): Promise<TurnGrant> {
    return commonGrant(
      await Promise.all(peopleOf(facts).map((person) => this.ofPerson(requestId, person, facts))),
    );
  }
}

const BEYOND_SCOPES = "The token of the call does not have it among its scopes.";

/** Nothing that the bot's own methods say gives a call more than its scopes. */
function missingScopes({ scopes }: CallFacts, required: readonly string[]): readonly string[] | undefined {
  if (scopes === undefined) return undefined;
  return missingPermissions({ isAllowed: true, permissions: scopes, reason: undefined }, required);
}

/** A turn that no person began is asked about once, without a person. */
function peopleOf({ people }: CallFacts): readonly (MessengerAuthor | undefined)[] {
  return people.length === 0 ? [undefined] : people;
}

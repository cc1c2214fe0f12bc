import { ConfigurationError } from "../../core/base/errors.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/chat/messenger-event.ts";
import type { PermissionPeople } from "./permission-people.ts";
import type { ActionKind } from "./action.ts";

/**
 * The permissions of a turn.
 *
 * - `true`: everything. `false`: no action.
 * - An object: no action unless `allowed`; then the actions whose permissions are all in `grantedPermissions`, or
 *   everything if that is left out. The model is told `reason`.
 */
export type ActionAuthorizationDecision =
  | boolean
  | {
      readonly allowed: boolean;
      readonly reason?: string;
      readonly grantedPermissions?: readonly string[];
      /** The people who have permissions, so that others can be told whom to ask. `roles()` has them in `people`. */
      readonly people?: PermissionPeople;
    };

/** Answer of `authorizeTurn` and `authorizeAction`. */
export type ActionAuthorization = ActionAuthorizationDecision | Promise<ActionAuthorizationDecision>;

/** The facts for `authorizeTurn`. It is called once for each person whose messages the turn answers. */
export interface ActionTurnContext {
  /** Id of the turn. */
  readonly requestId: string;
  /** The person whose permissions are asked for. Undefined if no person began the turn, or the platform tells none. */
  readonly person: MessengerAuthor | undefined;
  /** The chat of the turn. Undefined outside a messenger. */
  readonly chat: MessengerThread | undefined;
  /** The key of the messenger in `getMessengers()`. Undefined outside a messenger. */
  readonly messengerId: string | undefined;
}

/**
 * Makes the facts for `authorizeTurn`. Think gives it the `body` of a web request. No turn of a messenger has one, and a
 * rule that reads it would silently see nobody: reading it is an error, so nothing is allowed and the log says why.
 */
export function turnContext(facts: ActionTurnContext): ActionTurnContext {
  return Object.defineProperty({ ...facts }, "body", {
    get() {
      throw new ConfigurationError(
        "turn-without-body",
        "authorizeTurn() reads context.body, which turns of messengers do not have. Decide by context.person, or by getTurn().metadata of submissions.",
      );
    },
  });
}

/** The facts for `authorizeAction`. */
export interface ActionCallContext extends ActionTurnContext {
  /** The name that the model calls. */
  readonly action: string;
  readonly kind: ActionKind;
  /** The validated input. */
  readonly input: unknown;
  readonly toolCallId: string;
  readonly requiredPermissions: readonly string[];
  /** The turn's permissions, from `authorizeTurn`. Undefined means all permissions. */
  readonly grantedPermissions: readonly string[] | undefined;
  /** Whether the turn has all required permissions: the answer of `authorizeAction` unless it is overridden. */
  readonly isGranted: boolean;
}

/** The permissions of a turn: all of them, or a list. */
export interface TurnGrant {
  readonly isAllowed: boolean;
  /** Undefined means all permissions. */
  readonly permissions: readonly string[] | undefined;
  readonly reason: string | undefined;
  /** The people who have permissions. Undefined if the bot does not say. */
  readonly people?: PermissionPeople | undefined;
}

export function grantOf(decision: ActionAuthorizationDecision): TurnGrant {
  if (typeof decision === "boolean")
    return { isAllowed: decision, permissions: undefined, reason: undefined };
  return {
    isAllowed: decision.allowed,
    permissions: decision.grantedPermissions,
    reason: decision.reason,
    people: decision.people,
  };
}

/** Returns the ids of the people who have all of these permissions. Undefined if the bot does not say. */
export function holdersOf(
  people: PermissionPeople | undefined,
  permissions: readonly string[],
): readonly string[] | undefined {
  if (people === undefined) return undefined;
  const all = new Set(Object.values(people.holders).flatMap((ids) => ids.map(String)));
  const ofPerson = rolesIn(people.holders);
  return [...all].filter((userId) => {
    const granted = ofPerson({ userId });
    return permissions.every((permission) => isCovered(permission, granted));
  });
}

export function personName(people: PermissionPeople | undefined, userId: string): string | undefined {
  return people?.names?.[userId];
}

/** Returns the common rights of several people. A turn that answers them does no more than each of them may. */
export function commonGrant(grants: readonly TurnGrant[]): TurnGrant {
  const [first, ...rest] = grants;
  if (first === undefined) return { isAllowed: true, permissions: undefined, reason: undefined };
  return rest.reduce(
    (common, grant) => ({
      isAllowed: common.isAllowed && grant.isAllowed,
      permissions: intersection(common.permissions, grant.permissions),
      reason: common.isAllowed ? (grant.reason ?? common.reason) : common.reason,
      people: common.people ?? grant.people,
    }),
    first,
  );
}

function intersection(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined) return other;
  if (other === undefined) return one;
  return [
    ...one.filter((permission) => isCovered(permission, other)),
    ...other.filter((permission) => !one.includes(permission) && isCovered(permission, one)),
  ];
}

/** `billing` covers `billing:refund`. */
export function isCovered(permission: string, granted: readonly string[]): boolean {
  return granted.some((one) => permission === one || permission.startsWith(`${one}:`));
}

/** Returns the required permissions that a grant does not have. Undefined if the call is allowed. */
export function missingPermissions(
  grant: TurnGrant,
  required: readonly string[],
): readonly string[] | undefined {
  if (!grant.isAllowed) return required;
  const { permissions } = grant;
  if (permissions === undefined) return undefined;
  const missing = required.filter((permission) => !isCovered(permission, permissions));
  return missing.length === 0 ? undefined : missing;
}

/** The result of `roles`. */
export interface Roles {
  (person: { readonly userId: string } | undefined): readonly string[];
  /** For the `people` of `authorizeTurn`: tells others whom to ask. */
  readonly people: PermissionPeople;
}

/**
 * Returns a function that gives the permissions of a person, for small teams. A permission covers those below it:
 * `billing` covers `billing:refund`.
 *
 * @param names names by user id, for people who must ask somebody else
 * @example
 * const rolesOf = roles({ billing: ["1001", "1002"], "orders:cancel": ["1001"] }, { "1001": "Dana", "1002": "Eli" });
 * authorizeTurn({ person }) {
 *   return { allowed: true, grantedPermissions: rolesOf(person), people: rolesOf.people };
 * }
 */
export function roles(holders: PermissionPeople["holders"], names?: PermissionPeople["names"]): Roles {
  return Object.assign(rolesIn(holders), { people: { holders, ...(names !== undefined && { names }) } });
}

function rolesIn(
  holders: PermissionPeople["holders"],
): (person: { readonly userId: string } | undefined) => readonly string[] {
  return (person) =>
    Object.entries(holders)
      .filter(([, ids]) => person !== undefined && ids.some((id) => String(id) === person.userId))
      .map(([permission]) => permission);
}

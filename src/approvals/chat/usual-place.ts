import type { ApproverRule } from "../rules/approval.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { Address } from "../../core/chat/surface.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { DeclaredMessengers } from "../../messengers/declare/declared-messengers.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";

/** The platform is asked about at most this many people. More than these are not all missing. */
const MOST_ASKED_ABOUT = 10;
const ASK_LIMIT_MS = 3_000;

/** Tells whether somebody is in a chat. Undefined if that cannot be known. */
export type IsMember = (address: Address, userId: string) => Promise<boolean | undefined>;

/**
 * Returns where people are asked if the action does not say. Named people are not in the private chat of somebody else,
 * and may not be in a group either. If one of them is there, that chat is good.
 *
 * @param excluded the person who asks, if that person may not decide
 */
export async function usualPlace(
  approvers: ApproverRule,
  excluded: string | undefined,
  { address, person }: Pick<CallFacts, "address" | "person">,
  isMember: IsMember,
): Promise<"here" | "approver-dm"> {
  const named = ("userIds" in approvers ? approvers.userIds : undefined) ?? [];
  const others = named.filter((userId) => userId !== excluded);
  const isOneOfThem = person !== undefined && others.includes(person.userId);
  if (address === undefined || others.length === 0 || isOneOfThem) return "here";
  if (address.isDirectMessage) return "approver-dm";
  if (others.length > MOST_ASKED_ABOUT) return "here";
  const areMembers = await Promise.all(others.map((userId) => isMember(address, userId)));
  return areMembers.every((isThere) => isThere === false) ? "approver-dm" : "here";
}

/** Asks the platform of a chat. */
export function memberCheck(
  messengers: Pick<DeclaredMessengers, "find" | "context">,
  { clock }: Pick<Deps, "clock">,
): IsMember {
  return async ({ chatId, messengerId }, userId) => {
    const platform = messengers.find(messengerId)?.platform;
    if (platform?.isMember === undefined) return undefined;
    const limit = new AbortController();
    try {
      const asked = platform.isMember(chatId, userId, messengers.context(messengerId), limit.signal);
      return await withinTime(clock, ASK_LIMIT_MS, asked, "isMember()");
    } catch {
      // The platform does not know the person, does not tell the bot, or cannot be reached.
      return undefined;
    } finally {
      limit.abort();
    }
  };
}

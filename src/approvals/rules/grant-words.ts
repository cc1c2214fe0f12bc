import { amountWords } from "../../core/text/amount.ts";
import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say, TextName } from "../../core/text/bot-texts.ts";
import type { GrantScope } from "../../core/action/grant-scope.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { ScheduleBinding } from "../../core/turn/schedule-binding.ts";
import type { CardRole } from "./card-view.ts";
import { nameOf } from "./outcome-words.ts";

/**
 * The calls of an offer in words: "Refunds up to 100 €, in this chat, asked by Anna", or "Refunds, up to 500 € in all, 5
 * times, by the scheduled task night".
 */
export function grantWords(
  offer: Pick<GrantScope, "words" | Limits>,
  {
    requester,
    schedule,
  }: { readonly requester: MessengerAuthor | undefined; readonly schedule?: ScheduleBinding | undefined },
  say: Say = sayEnglish,
  role: CardRole | { readonly chat: string | undefined } = "here",
): string {
  const words = [offer.words, ...limitWords(offer, say)].join(", ");
  if (schedule !== undefined) return say("grantTermsOfSchedule", { words, task: schedule.taskId });
  const where = typeof role === "object" ? otherChat(role.chat, say) : say(WHERE[role]);
  return requester === undefined
    ? say("grantTerms", { words, where })
    : say("grantTermsBy", { words, where, name: nameOf(requester) });
}

type Limits = "budget" | "calls" | "sum";

function limitWords({ budget, calls, sum }: Pick<GrantScope, Limits>, say: Say): string[] {
  const times = calls === 1 ? say("grantOnce") : say("grantTimes", { count: calls ?? 0 });
  return [
    ...(sum === undefined ? [] : [say("grantSum", { amount: amountWords(sum) })]),
    ...(calls === undefined ? [] : [times]),
    ...(budget === undefined || (calls ?? sum) === undefined ? [] : [say("grantBudget")]),
  ];
}

const WHERE = {
  here: "inThisChat",
  status: "inThisChat",
  elsewhere: "inTheAskingChat",
} as const satisfies Record<CardRole, TextName>;

function otherChat(title: string | undefined, say: Say): string {
  return title === undefined ? say("inAnotherChat") : say("inChat", { chat: title });
}

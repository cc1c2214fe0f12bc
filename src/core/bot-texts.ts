import { inLanguage } from "./local-text.ts";
import type { LocalText } from "./local-text.ts";

/** The texts of approvals, grants and subscriptions. Names in braces stand for values. */
export const ENGLISH_TEXTS = {
  // The card of a request: its title by state.
  approvalAsks: "Is this OK?",
  approvalWaits: "Waiting for a decision",
  approvalApproved: "Approved. Starting …",
  approvalRunning: "Approved. Working on it …",
  approvalDone: "Done",
  approvalFailed: "Approved, but it failed",
  approvalUnknownOutcome: "Approved, but the outcome is not known",
  approvalRejected: "Rejected",
  approvalExpired: "Nobody decided in time",
  approvalWithdrawn: "Taken back",
  approvalChanged: "Changes wanted",
  approvalReplaced: "Replaced by a newer request",
  approvalVoid: "No longer possible",
  // Its buttons.
  approveButton: "Approve",
  rejectButton: "Reject",
  changeButton: "Ask for changes",
  withdrawButton: "Take back",
  grantButton: "Yes, {length}",
  // Its fields.
  changesLabel: "What changes",
  newValue: "{value} (new)",
  modelWordsLabel: "The bot's own words",
  riskLabel: "Risk",
  lowRisk: "low",
  mediumRisk: "medium",
  highRisk: "high",
  scheduleLabel: "Scheduled task",
  requesterLabel: "Asked by",
  approversLabel: "Who can decide",
  untilLabel: "Until",
  unreachedLabel: "Not reached",
  offerLabel: "You can also allow",
  expiredLabel: "Expired",
  deciderLabel: "Decided by",
  grantedLabel: "Also allowed {length}",
  reasonLabel: "Why",
  resultLabel: "Result",
  // People.
  botTeam: "the bot's team",
  deciderByGrant: "{name}, who had allowed it before",
  deciderAsAdmin: "{name}, as an administrator",
  anyoneHere: "anyone in this chat",
  anyoneThere: "anyone in the chat in which I have asked",
  peopleWithPermission: "people who have the permission {permissions}",
  namedWithPermission: "{names} (people who have the permission {permissions})",
  chosenPeople: "people whom this bot's team has chosen",
  butNot: "{people}, but not {name}",
  neverWrote: "{who} has never written to me. Ask them to open a private chat with me and press Start.",
  unreachable: "I can't write to {who} any more. Ask them to unblock me, or to add me again.",
  askedChat: "The chat in which I asked",
  chatToAsk: "The chat in which I should ask",
  decideHere: "Until then, people can decide here.",
  // What came of it.
  chatGone: "the chat in which it was asked accepts no messages any more",
  messengerUndeclared: "the bot no longer serves the messenger in which it was asked",
  actionRemoved: "the bot no longer has this action",
  notPossible: "it is not possible any more",
  maybeHappened: "It may or may not have happened.",
  notAllowedAnyMore: "The person who asked is not allowed to do this any more.",
  actionGone: "The bot can't do this any more.",
  didNotWork: "It did not work.",
  // The private word after a press, and answers to replies.
  pressApproved: "Approved.",
  pressRejected: "Rejected.",
  pressChange: "OK. Reply to the card with what should change.",
  pressWithdrawn: "Taken back.",
  pressGranted: "Approved. I won't ask again for this: {covered}. /grants shows it and ends it.",
  pressReplaced: "A newer request has replaced this one, so nothing has changed.",
  pressLate: "This was decided before: {state}.",
  pressLateBy: "This was decided before by {name}: {state}.",
  pressExpired: "It's too late: nobody decided in time.",
  pressNotAllowed: "You can't decide this. It's up to {approvers}.",
  pressNotRequester: "Only the person who asked can take this back.",
  pressUnknown: "I don't know this request any more.",
  pressAnonymous: "I can't see who pressed this button, so nothing has changed.",
  stateWaiting: "it still waits",
  stateApproved: "approved",
  stateDone: "approved, and it is done",
  stateRejected: "rejected",
  stateExpired: "nobody decided in time",
  stateWithdrawn: "taken back",
  stateReplaced: "there is a newer request, or changes are wanted",
  stateVoid: "it can no longer run",
  useButtons: "Please use the buttons of the request, or reply to it with yes or no.",
  notADecision:
    "That alone decides nothing. Please press a button of the request, or write it as a reply to the request.",
  decidedElsewhere: "This is decided in another chat, where I have asked.",
  proposesAgain: "Thanks, I'll propose it again.",
  noted: "Thanks, noted.",
  reminder: "This still waits for a decision of {approvers}: {what}. There is time until {time}.",
  // /approvals
  approvalsCommand: "Show what waits for a decision",
  waitsForYou: "Waiting for your decision",
  youAsked: "You asked for",
  waitingLine: "{summary}{asker}{chat}, until {time}",
  askedLine: "{summary} – up to {approvers}{chat}, until {time}",
  lineAsker: " – asked by {name}",
  lineChat: " in “{chat}”",
  nothingWaits: "Nothing waits for your decision, and nothing that you asked for.",
  nothingWaitsHere:
    "Nothing that was asked in this chat waits for your decision, and nothing that you asked for here. In a private chat with me, /approvals shows all chats.",
  andMore: "… and {count} more",
  maybeMore: "There may be more: I can't look at all chats right now.",
  cannotLook: "I can't look at all chats right now. Please try again in a moment.",
  showButton: "Show {number}",
  hereItIs: "Here it is.",
  decidedByNow: "This is decided by now.",
  cardElsewhere: "Its card is in another chat.",
  cardIn: "Its card is in “{chat}”.",
  // Grants.
  grantForRequest: "for this request",
  grantForAnHour: "for an hour",
  grantAlways: "always",
  grantForSchedule: "whenever this schedule runs",
  grantTerms: "{words}, {where}",
  grantTermsBy: "{words}, {where}, asked by {name}",
  grantTermsOfSchedule: "{words}, by the scheduled task {task}",
  inThisChat: "in this chat",
  inTheAskingChat: "in the chat that asked",
  inAnotherChat: "in another chat",
  inChat: "in “{chat}”",
  grantsCommand: "Show what I may do without asking",
  allowedWithoutAsking: "Allowed without asking",
  nothingAllowed: "Nothing is allowed in advance here: I ask about everything that needs consent.",
  grantLine: "{terms}, {length}{end} – given by {giver}, {used}",
  grantEnd: " (until {time})",
  usedOnce: "used once",
  usedTimes: "used {count} times",
  endButton: "End {number}",
  grantEnded: "Ended. From now on I ask again.",
  grantOver: "This is over already.",
  grantUnknown: "I don't know this any more.",
  grantNotYours: "Only {giver} and {person} can end this.",
  // /subscribe and /unsubscribe
  subscribeCommand: "Get news in this chat",
  unsubscribeCommand: "Get no more news in this chat",
  subscribed: "You're subscribed. Send /unsubscribe whenever you've had enough.",
  subscribedAlready: "You're already subscribed. Send /unsubscribe whenever you've had enough.",
  unsubscribed: "You're unsubscribed. Send /subscribe if you change your mind.",
  unsubscribedAlready: "You aren't subscribed. Send /subscribe if you'd like to be.",
} as const;

/** Name of a text. */
export type TextName = keyof typeof ENGLISH_TEXTS;

/** A bot's own words for texts of Switchboard, in one language or in several. Others stay in English. */
export type BotTexts = Readonly<Partial<Record<TextName, LocalText>>>;

/** Returns a text with its values filled in. */
export type Say = (name: TextName, values?: Readonly<Record<string, string | number>>) => string;

/** Returns the texts for a reader of this language. Undefined if the platform does not tell it. */
export function sayIn(texts: BotTexts, language: string | undefined): Say {
  return (name, values = {}) => {
    const text = inLanguage(texts[name] ?? ENGLISH_TEXTS[name], language);
    return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole));
  };
}

/** The texts in English. */
export const sayEnglish: Say = sayIn({}, undefined);

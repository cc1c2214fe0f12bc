import { inLanguage } from "./local-text.ts";
import type { LocalText } from "./local-text.ts";

/** All texts that people read and no model writes. Names in braces stand for values. */
export const ENGLISH_TEXTS = {
  // Answers that did not become one.
  emptyResponseText: "I don't have an answer to that. Could you put it another way?",
  errorResponseText: "Sorry, something went wrong and I couldn't answer. Please try again in a moment.",
  overloadedResponseText:
    "Sorry, I'm very busy right now and couldn't answer. Please try again in a few minutes.",
  waitingResponseText: "One moment, this is taking longer than usual.",
  interruptedResponseText: "Sorry, I couldn't finish this answer. Please ask again if you need the rest.",
  stepLimitResponseText:
    "I've taken as many steps as I can and still don't have an answer. Please ask for a smaller part, or put it another way.",
  stoppedResponseText: "(stopped)",
  busyResponseText:
    "I'm still working on your earlier messages. Please send this one again in a little while.",
  refusedResponseText: "Sorry, this bot is private, so I can't help you here.",
  staleActionResponseText: "This button is no longer in use.",
  interruptedActionResponseText: "I was interrupted. Please check whether it worked before you try again.",
  limitResponseText: "You've reached the limit for now. Please try again later.",
  // In place of a file that could not be sent, below its name.
  fileTooLargeText: "This file is too large to send here.",
  fileUnreachableText: "I couldn't get this file.",
  fileForbiddenText: "This chat doesn't allow files like this.",
  fileRefusedText: "This file couldn't be sent.",
  // The built-in commands.
  startCommand: "Say hello",
  helpCommand: "Show the commands",
  stopCommand: "Stop the answer that is being written",
  newCommand: "Start a new conversation",
  startText: "Hello! Send me a message and I'll answer. /help shows what else I can do.",
  helpText: "Just write to me in your own words. I also know these commands:",
  stopText: "There's nothing to stop right now.",
  newText: "Let's start over. I won't refer to anything from before.",
  oneRequestWaits: "One request still waits for a decision.",
  requestsWait: "{count} requests still wait for a decision.",
  stopKeepsRequests: "/stop takes no request back; the button on its card does.",
  newKeepsRequests: "I'll tell you here what comes of it.",
  // The card of a request: its question, and its title by state.
  approvalQuestion: "{summary}?",
  togetherQuestion: "Shall I do this?",
  togetherDecided: "Decided",
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
  approvalMessageChanged: "Replaced: the message has changed",
  approvalScheduleDeleted: "Not needed any more: its schedule was deleted",
  approvalVoid: "No longer possible",
  approvalNobody: "Not done: nobody may decide about this",
  // Its buttons.
  approveButton: "Approve",
  rejectButton: "Reject",
  moreButton: "More",
  lessButton: "Less",
  changeButton: "Ask for changes",
  withdrawButton: "Take back",
  retractButton: "Undo my approval",
  approveAllButton: "Approve all",
  rejectAllButton: "Reject all",
  approveOneButton: "Approve {number}",
  rejectOneButton: "Reject {number}",
  apartButton: "One by one",
  handButton: "Hand over …",
  handToButton: "To {name}",
  grantButton: "Allow {length}",
  // Its fields.
  inputLabel: "Input",
  yesWord: "yes",
  noWord: "no",
  moreValuesLabel: "And",
  moreValues: "{count} more values",
  changesLabel: "What changes",
  newValue: "{value} (new)",
  previewFailed: "I couldn't find out what this changes.",
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
  quorumLabel: "Approved by",
  quorumNobody: "0 of {quorum}",
  quorumCount: "{count} of {quorum}: {names}",
  handLabel: "Handed over",
  handedOver: "to {to}, by {by}",
  escalatedLabel: "Also asked",
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
  findWithApprovals: "{people}. They find this with /approvals in a private chat with me.",
  neverWrote: "{who} has never written to me. Ask them to open a private chat with me and press Start.",
  unreachable: "I can't write to {who} any more. Ask them to unblock me, or to add me again.",
  askedChat: "The chat in which I asked",
  chatToAsk: "The chat in which I should ask",
  decideHere: "Until then, people can decide here.",
  // Why a request ended without the action.
  chatGone: "the chat in which it was asked accepts no messages any more",
  messengerUndeclared: "the bot no longer serves the messenger in which it was asked",
  actionRemoved: "the bot no longer has this action",
  approversMissing:
    "it needs somebody's consent, and nobody may give it. The bot's team can name somebody who may.",
  requesterAnonymous:
    "somebody else than the person who asks must agree, and I can't see who asks. Please ask again without being anonymous.",
  notPossible: "it is not possible any more",
  maybeHappened: "It may or may not have happened.",
  doneOtherwise: "Nothing was done: the same was done before, with other values.",
  notAllowedAnyMore: "The person who asked is not allowed to do this any more.",
  actionGone: "The bot can't do this any more.",
  didNotWork: "It did not work.",
  // The private word after a press, and answers to replies.
  pressApproved: "Approved.",
  pressRejected: "Rejected.",
  pressChange: "OK. Reply to the card with what should change.",
  pressWithdrawn: "Taken back.",
  pressPartApproved: "Approved {count} of {total}. {others}",
  pressPartRejected: "Rejected {count} of {total}. {others}",
  pressHanded: "I've asked {name} to decide.",
  handNotPossible: "{name} can't decide this.",
  handedWords: "{by} asks you to decide this: {what}.",
  pressAgreed: "Noted: {count} of {quorum} have approved.",
  pressRetracted: "Your approval is undone.",
  pressNotAgreed: "You haven't approved this.",
  pressGranted: "Approved. I won't ask again for this: {covered}. /grants shows it and ends it.",
  pressReplaced: "A newer request has replaced this one, so nothing has changed.",
  pressMessageChanged: "The message behind this request has changed, so nothing was decided.",
  pressScheduleDeleted: "The schedule behind this request was deleted, so nothing has changed.",
  pressVoid: "This can no longer be done: {why}.",
  pressLate: "This was decided before: {state}.",
  pressLateBy: "This was decided before by {name}: {state}.",
  pressExpired: "It's too late: nobody decided in time.",
  pressNotAllowed: "You can't decide this. It's up to {approvers}.",
  decideAsYourself:
    "You write as {name}, so I can't see who you are. Please press a button of the request, or write it again without being anonymous.",
  decideAsAsked:
    "{name} asked for this, and I can't see whether that was you. Please write yes or no as {name}, as a reply to the request.",
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
  useButtons: "Please use the buttons of the request, or reply to it with yes or no.",
  notADecision:
    "That alone decides nothing. Please press a button of the request, or write it as a reply to the request.",
  decidedElsewhere: "This is decided in another chat, where I have asked.",
  proposesAgain: "Thanks, I'll propose it again.",
  noted: "Thanks, noted.",
  askedAlready: "I've asked about this before, and it still waits for a decision.",
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
  grantSum: "up to {amount} in all",
  grantOnce: "once",
  grantTimes: "{count} times",
  grantBudget: "all chats together",
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
  // Questions that are asked field by field: the buttons.
  formSendButton: "Send",
  formChangeButton: "Change",
  formCancelButton: "Not now",
  formBackButton: "Back",
  formSkipButton: "Skip",
  formKeepButton: "Keep {value}",
  formKeepWord: "keep",
  formEarlierButton: "◀ Earlier",
  formLaterButton: "More ▶",
  // How to answer.
  formStep: "{number} of {count}",
  formSummary: "Is this right?",
  formWhichField: "What would you like to change?",
  formAnswerLabel: "Answer",
  formWords: "You can also write {words}.",
  formOptionHint: "Please pick one.",
  formTextHint: "Write your answer.",
  formLengthHint: "{least} to {most} characters.",
  formLeastLengthHint: "At least {count} characters.",
  formMostLengthHint: "At most {count} characters.",
  formNumberHint: "Write a number.",
  formWholeHint: "Write a whole number.",
  formRangeHint: "From {least} to {most}.",
  formDateHint: "Write a date, such as {example}, or a day such as tomorrow.",
  formDateTimeHint: "Write a date and a time, such as {example} (time zone {zone}).",
  formEmailHint: "Write an e-mail address.",
  formAddressHint: "Write a web address.",
  formFileHint: "Send a file.",
  formPhotoHint: "Send a photo.",
  formPlaceHint: "Send a place, or write its coordinates.",
  formFileWord: "a file",
  formPhotoWord: "a photo",
  // Why an answer does not fit.
  formNoText: "Please write your answer.",
  formTextTooShort: "Please write at least {count} characters.",
  formTextTooLong: "Please write at most {count} characters.",
  formTextRefused: "That doesn't have the right form.",
  formNotOption: "Please pick one of the options.",
  formNotNumber: "Please write a number.",
  formNumberUnclear: "Is that {one} or {other}? Please write it that way.",
  formNotWhole: "Please write a whole number.",
  formTooSmall: "At least {number}.",
  formTooLarge: "At most {number}.",
  formNotAbove: "More than {number}.",
  formNotBelow: "Less than {number}.",
  formNotMultiple: "A multiple of {number}.",
  formNotDate: "I don't see which day that is. Please write a date, such as 2026-12-24.",
  formDateUnclear: "Is that {one} or {other}? Please write it that way.",
  formNotDateTime:
    "I don't see which time that is. Please write a date and a time, such as 2026-12-24 18:30.",
  formNotEmail: "That's not an e-mail address.",
  formNotAddress: "That's not a web address.",
  formNoFile: "Please send a file.",
  formNoPhoto: "Please send a photo.",
  formOneFile: "Please send only one.",
  formFileRefused: "I can't use files of this kind. I can use: {types}.",
  formFileTooLarge: "That's too large. At most {size} MB, please.",
  formNoPlace: "Please send a place, or write its coordinates.",
  formPrivateOnly: "I only ask this in a private chat.",
  formRefused: "That doesn't fit. Please change it.",
  // Questions of actions.
  questionAnsweredBy: "Answered by {person}.",
  questionDeclined: "Not answered.",
  questionExpired: "Nobody answered in time.",
  questionReminder: "I'm still waiting for your answer. There is time until {time}.",
  questionOver: "This question is over already.",
  questionMoved: "Please use the buttons that the question has now.",
  questionStaysOpen: "I've taken your message as an ordinary one. My question is still open.",
  questionReplyHint: "To answer, please reply to this message.",
  questionQuoteIt: "I've taken your message as an ordinary one. To answer my question, please reply to it.",
  // /subscribe and /unsubscribe
  subscribeCommand: "Get news in this chat",
  unsubscribeCommand: "Get no more news in this chat",
  subscribed: "You're subscribed. Send /unsubscribe whenever you've had enough.",
  subscribedAlready: "You're already subscribed. Send /unsubscribe whenever you've had enough.",
  unsubscribed: "You're unsubscribed. Send /subscribe if you change your mind.",
  unsubscribedAlready: "You aren't subscribed. Send /subscribe if you'd like to be.",
  // Schedules that people make in a chat, and /schedules.
  schedulesCommand: "Show the reminders and schedules of this chat",
  zoneQuestion: "Which time zone are you in? Pick one, write me your city, or send me your location.",
  zoneSet: "Your time zone is {zone}.",
  zoneKept: "Thanks, I'll remember that.",
  remindsYou: "I'll remind you: {text}",
  writesForYou: "I'll write this for you: {text}",
  noSchedules: "There are no schedules here. Ask me for one in your own words.",
  moreSchedules: "And {count} more.",
  nextTimes: "Next: {times} ({zone})",
  nextDurations: "Next: {durations}",
  inDuration: "in {duration}",
  schedulePaused: "Paused.",
  scheduleOver: "It has no more occurrences.",
  scheduleResumed: "It goes on.",
  scheduleRuns: "It runs now.",
  scheduleDeleted: "Deleted.",
  // Its maker learns once that it fails, and once that it works again.
  scheduleFailed: "This didn't work: {text}\n\nIt was due {time}. {next}",
  scheduleGoesOn: "I'll try again the next time, and tell you when it works.",
  scheduleHasNoNext: "There is no next time, so ask me again if you still need it.",
  scheduleLimited:
    "I've skipped this: {text}\n\nIt was due {time}, and has used up what it may use in a day.",
  // All that the bot has skipped because it was away for too long, one line each.
  schedulesSkipped: "I was away for too long, so I've skipped this:",
  skippedLine: "{text} (due {time}). {next}",
  scheduleComesAgain: "The next one comes as planned.",
  scheduleRecovered: "This works again: {text}",
  schedulePausedItself: "This failed five times in a row, so I've paused it: {text}",
  // The owner of a task that the bot declares reads these.
  taskFailed:
    "The scheduled task {task} failed (due {time}, reason: {reason}). I'll try the next one as planned, and tell you when it works again.",
  taskLimited:
    "The scheduled task {task} has used up its budget of the day ({reason}), so I skipped it (due {time}). It goes on when the budget allows.",
  taskRecovered: "The scheduled task {task} works again (due {time}).",
  taskPaused:
    "The scheduled task {task} failed five times in a row, so I've paused it. The last reason: {reason} (due {time}).",
  taskForDevelopers: "Its developers can resume it with `schedules.resume`.",
  taskResumed: "The scheduled task {task} goes on. {name} resumed it.",
  taskRuns: "The scheduled task {task} goes on, and runs now. {name} asked for that.",
  taskStopped: "The scheduled task {task} stays stopped. {name} asked for that.",
  taskResumeButton: "Resume",
  taskRunButton: "Run now",
  taskStaysStopped: "It stays stopped.",
  taskUnknown: "I don't know this task any more.",
  taskNotPaused: "This task isn't paused any more, so nothing has changed.",
  taskNotYours: "Only people whom this bot's team has chosen can change this task.",
  deleteButton: "Delete",
  deleteOneButton: "Delete {id}",
  pauseButton: "Pause {id}",
  resumeButton: "Resume {id}",
  runButton: "Run {id} now",
  doneButton: "Done",
  tenMinutesButton: "10 min",
  oneHourButton: "1 h",
  tomorrowButton: "Tomorrow",
  skipButton: "Skip next",
  reminderLate: "({duration} late)",
  reminderDone: "Done.",
  reminderSkipped: "Done. I'll skip the next one.",
  reminderHasNoNext: "Done. There is no next one.",
  remindsInTenMinutes: "I'll remind you again: in 10 minutes.",
  remindsInAnHour: "I'll remind you again: in an hour.",
  remindsTomorrow: "I'll remind you again: tomorrow.",
  reminderUnknown: "I don't know this reminder any more.",
  reminderNotYours: "This reminder is for somebody else.",
  questionNotYours: "This question is for somebody else.",
  scheduleUnknown: "I don't know this schedule any more.",
  scheduleNotYours: "Only the person who made this schedule can change it.",
  // The names of the days, from Sunday on, with spaces between them.
  weekdays: "Sun Mon Tue Wed Thu Fri Sat",
  seconds: "{count} seconds",
  oneMinute: "1 minute",
  minutes: "{count} minutes",
  hours: "{count} hours",
  days: "{count} days",
  zoneUnknown: '"{zone}" is not a time zone. Use a name such as "Europe/London".',
  zoneNeeded: "That time depends on the time zone, which is not known yet. Ask for the person's city first.",
  scheduleNever: "That time is over, or never comes. Name a time that is still to come.",
  scheduleTooOften: "That is too often: there must be at least {minutes} minutes in between.",
  schedulesFail: "My schedules don't work at the moment. Please try again later.",
  schedulesOff: "Schedules are switched off here.",
  scheduleTextLength: "A schedule needs a text of 1 to {most} characters.",
  schedulesNotAllowed: "You may not make schedules in this group.",
  schedulesFull: "There are already {count} schedules here, and no more fit. Delete one first.",
  yourSchedulesFull: "You already have {count} schedules here, and no more fit. Delete one first.",
} as const;

/** Name of a text. */
export type TextName = keyof typeof ENGLISH_TEXTS;

/** Values of a text, by the names that it has in braces. */
export type TextValues = Readonly<Record<string, string | number>>;

/** A text in one language. A function can choose words by a number, and returns the text with its braces or without. */
export type OneText = string | ((values: TextValues) => string);

/** All texts in one language, such as `german` of `switchboard/texts`. */
export type TextTable = Readonly<Record<TextName, OneText>>;

/** A bot's own words for texts of Switchboard, in one language or in several by language tag. Others stay in English. */
export type BotTexts = Readonly<Partial<Record<TextName, OneText | Readonly<Record<string, OneText>>>>>;

/** Returns a text with its values filled in. */
export type Say = (name: TextName, values?: TextValues) => string;

/** Returns the texts for a reader of this language. Undefined if the platform does not tell it. */
export function sayIn(texts: BotTexts, language: string | undefined): Say {
  return (name, values = {}) => {
    const text = templateOf(inLanguage<OneText>(texts[name] ?? ENGLISH_TEXTS[name], language), name, values);
    return text.replaceAll(/\{(\w+)\}/g, (whole, key: string) => String(values[key] ?? whole));
  };
}

/** A function of the bot that fails must not keep a card from being drawn. */
function templateOf(text: OneText, name: TextName, values: TextValues): string {
  if (typeof text === "string") return text;
  try {
    return text(values);
  } catch {
    return ENGLISH_TEXTS[name];
  }
}

/** Returns a text without values in all of its languages. */
export function localText(texts: BotTexts, name: TextName): LocalText {
  const text = texts[name] ?? ENGLISH_TEXTS[name];
  if (typeof text !== "object") return templateOf(text, name, {});
  const versions = Object.entries(text).map(([tag, one]) => [tag, templateOf(one, name, {})]);
  return Object.fromEntries(versions) as LocalText;
}

/** The texts in English. */
export const sayEnglish: Say = sayIn({}, undefined);

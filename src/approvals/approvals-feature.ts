import { localText } from "../core/text/bot-texts.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import type { ChatMove } from "../core/chat/chat-move.ts";
import type { GonePlace } from "../core/chat/delivery.ts";
import { answeredBy } from "../core/chat/inner-calls.ts";
import type { Feature } from "../feature/feature.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import { fromPeople } from "../messengers/turns/own-marks.ts";
import type { RunQuestion, RunQuestions } from "../scheduled-runs/run-questions.ts";
import { ApprovalCards } from "./chat/approval-cards.ts";
import { ApprovalNews } from "./chat/approval-news.ts";
import { ApprovalOverview } from "./chat/approval-overview.ts";
import type { ApprovalParts } from "./chat/approval-parts.ts";
import { ApprovalQuestions } from "./chat/approval-questions.ts";
import { Approvers } from "./chat/approvers.ts";
import { AskingConversation } from "./chat/asking-conversation.ts";
import { chatGone, chatMoved } from "./chat/changed-chats.ts";
import { PeopleConsent } from "./chat/people-consent.ts";
import { OutsideDecisions } from "./chat/outside-decisions.ts";
import { GrantOverview } from "./chat/grant-overview.ts";
import { EditForms } from "./chat/edit-forms.ts";
import { OutcomeTurns } from "./chat/outcome-turns.ts";
import { endSchema, showSchema } from "./rules/press-payloads.ts";
import { summaryOf } from "./rules/summary-of.ts";
import { outcomeKeyOf } from "./chat/card-ids.ts";
import { Approvals } from "./consent/approvals.ts";
import type { ApprovalCalls } from "./root/approval-calls.ts";
import { ApprovalIndex } from "./root/approval-index.ts";
import { isOpen, type Approval } from "./rules/approval.ts";
import type { ApprovalsHost } from "./rules/bot-methods.ts";
import { nameOf } from "./rules/outcome-words.ts";

/** Most waiting actions that the system prompt names. */
const MOST_LISTED = 10;

/**
 * People's consent to actions (I9): the questions of one conversation, with their cards, presses and outcomes, and at the
 * root the index of all of them.
 *
 * `PeopleConsent` asks, `ApprovalCards` shows, `ApprovalQuestions` takes the presses and words of people, `OutsideDecisions`
 * the decisions of other systems, and `OutcomeTurns` tells the outcome. `Approvals` has the rules.
 */
export class ApprovalsFeature implements Feature {
  readonly name = "approvals";
  readonly approvals: Approvals;
  readonly questions: ApprovalQuestions;
  readonly consent: PeopleConsent;
  readonly calls: ApprovalCalls;
  /** Approvals, as the bot's own code lists and decides them. */
  readonly executions: OutsideDecisions;
  /** Requests of all conversations. Only at the root. */
  readonly index: ApprovalIndex;
  readonly #news: ApprovalNews;
  readonly #overview: ApprovalOverview;
  readonly #grants: GrantOverview;
  readonly #parts: ApprovalParts;

  constructor(host: ApprovalsHost) {
    const news = new ApprovalNews(host);
    const approvers = new Approvers(host);
    const cards = new ApprovalCards(host);
    const outcomes = new OutcomeTurns(host);
    const approvals = new Approvals(new AskingConversation({ host, approvers, cards, news, outcomes }));
    const parts = { host, approvals, approvers, cards };
    const edits = new EditForms(parts);
    const grants = new GrantOverview(parts);
    const overview = new ApprovalOverview(parts);
    const index = new ApprovalIndex(host);
    const executions = new OutsideDecisions({ host, approvals, index });
    this.#news = news;
    this.#grants = grants;
    this.#overview = overview;
    this.#parts = parts;
    this.approvals = approvals;
    this.questions = new ApprovalQuestions({ ...parts, edits, outcomes });
    this.consent = new PeopleConsent(parts);
    this.calls = answeredBy(index, executions, overview, grants);
    this.executions = executions;
    this.index = index;
  }

  get runQuestions(): RunQuestions {
    const { approvals } = this;
    return {
      ofTurn: (turnId) => approvals.ofTurn(turnId).map(runQuestionOf),
      waitingIn: (turnId) => {
        const waiting = approvals.ofTurn(turnId).find(({ state }) => state === "waiting");
        return waiting && { approvalId: waiting.id };
      },
      askedBy: ({ approval }) =>
        typeof approval === "string" ? approvals.get(approval)?.rootRequest : undefined,
      dropRun: (turnId) => approvals.questions.dropRun(turnId),
    };
  }

  work(): Promise<void> {
    this.#news.tell();
    this.approvals.deciders.lookOnce();
    return this.approvals.work.run();
  }

  isBusy(): boolean {
    return this.approvals.work.isBusy();
  }

  nextWakeAt(): number | undefined {
    const times = [this.approvals.work.nextWakeAt(), this.#news.tellAgainAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** `/approvals` and `/grants`, if some action of the bot may ask people. */
  commands(): ThinkCommands {
    const { texts = {} } = this.#parts.host.agent;
    if (!this.#asksPeople()) return {};
    return {
      approvals: {
        description: localText(texts, "approvalsCommand"),
        handler: ({ event }) => this.#overview.list(event),
      },
      grants: {
        description: localText(texts, "grantsCommand"),
        handler: ({ event }) => this.#grants.list(event),
      },
    };
  }

  /** An addition to the system prompt while something waits. */
  prompt(): string | undefined {
    const waiting = this.approvals.waiting();
    if (waiting.length === 0) return undefined;
    const lines = waiting.slice(-MOST_LISTED).map((approval) => {
      const asker = approval.requester === undefined ? "" : `, asked by ${said(nameOf(approval.requester))}`;
      return `- ${approval.action}: ${said(summaryOf(approval))}${asker}`;
    });
    return [
      `⟦${waiting.length === 1 ? "One action waits" : `${waiting.length} actions wait`} for a person's decision.⟧`,
      ...lines,
      "They have not run. Do not call them again with the same input, and do not say that they are done. People decide with the buttons of the card, or in a reply to it; words in the chat decide nothing. You will be told the outcome.",
    ].join("\n");
  }

  /** Takes a press of an approval's card, of `/approvals` or of `/grants`. Undefined if the card is another one. */
  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    const show = showSchema.safeParse(press.payload);
    if (show.success) return this.#overview.show(show.data, press);
    const end = endSchema.safeParse(press.payload);
    if (end.success) return this.#grants.press(end.data, press);
    return this.questions.pressed(press);
  }

  chatGone(place: GonePlace): void {
    chatGone(this.#parts, place);
  }

  conversationMoved(messengerId: string, move: ChatMove): void {
    chatMoved(this.#parts, messengerId, move);
  }

  /** Whether some action of the bot may ask people, or this conversation has asked. */
  #asksPeople(): boolean {
    try {
      const actions = this.#parts.host.actions.declared();
      if (Object.values(actions).some(({ kind }) => kind !== "server")) return true;
      return this.approvals.list({ limit: 1 }).length > 0;
    } catch {
      // A turn calls it again, and logs the reason.
      return false;
    }
  }
}

/** Returns an approval as those see it who follow the run of a schedule. */
function runQuestionOf(approval: Approval): RunQuestion {
  const known = { outcomeKey: outcomeKeyOf(approval) };
  if (approval.state === "waiting") return { ...known, state: "waiting", ending: undefined };
  const isBusy = isOpen(approval.state) || !approval.isTold;
  return { ...known, state: isBusy ? "open" : "over", ending: endingOf(approval) };
}

function endingOf({ reason, state }: Approval): string | undefined {
  switch (state) {
    case "done":
      return undefined;
    case "failed":
      return "action-failed";
    case "void":
      return reason ?? "void";
    default:
      return state;
  }
}

function said(text: string): string {
  return JSON.stringify(fromPeople(text));
}

import type { FeaturePress, PressAnswer } from "../core/card-press.ts";
import type { ChatMove } from "../core/chat-move.ts";
import type { GonePlace } from "../core/delivery.ts";
import { answeredBy } from "../core/inner-calls.ts";
import type { Feature } from "../feature/feature.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import type { RunQuestions } from "../scheduled-runs/run-questions.ts";
import { ApprovalCards } from "./chat/approval-cards.ts";
import { approvalCommands } from "./chat/approval-commands.ts";
import { ApprovalNews } from "./chat/approval-news.ts";
import { ApprovalOverview } from "./chat/approval-overview.ts";
import { ApprovalQuestions } from "./chat/approval-questions.ts";
import { Approvers } from "./chat/approvers.ts";
import { AskingConversation } from "./chat/asking-conversation.ts";
import { ChangedChats } from "./chat/changed-chats.ts";
import { PeopleConsent } from "./chat/people-consent.ts";
import { OutsideDecisions } from "./chat/outside-decisions.ts";
import { GrantOverview } from "./chat/grant-overview.ts";
import { EditForms } from "./chat/edit-forms.ts";
import { HandOver } from "./chat/hand-over.ts";
import { OutcomeTurns } from "./chat/outcome-turns.ts";
import { endSchema, showSchema } from "./rules/press-payloads.ts";
import { runQuestionOf } from "./chat/run-question.ts";
import { waitingPrompt } from "./chat/waiting-prompt.ts";
import { Approvals } from "./consent/approvals.ts";
import type { ApprovalCalls } from "./root/approval-calls.ts";
import { ApprovalIndex } from "./root/approval-index.ts";
import type { ApprovalsHost } from "./rules/bot-methods.ts";

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
  readonly #host: ApprovalsHost;
  readonly #news: ApprovalNews;
  readonly #overview: ApprovalOverview;
  readonly #grants: GrantOverview;
  readonly #changedChats: ChangedChats;

  constructor(host: ApprovalsHost) {
    this.#host = host;
    const news = new ApprovalNews(host);
    const approvers = new Approvers(host);
    const cards = new ApprovalCards(host);
    const outcomes = new OutcomeTurns(host);
    const approvals = new Approvals(new AskingConversation({ host, approvers, cards, news, outcomes }));
    const edits = new EditForms({ host, approvals, approvers, cards });
    const grants = new GrantOverview({ host, grants: approvals.grants });
    const overview = new ApprovalOverview({ host, approvals, approvers, cards });
    const index = new ApprovalIndex(host);
    const executions = new OutsideDecisions({ host, approvals, index });
    this.#news = news;
    this.#grants = grants;
    this.#overview = overview;
    this.#changedChats = new ChangedChats({ host, approvals, cards });
    this.approvals = approvals;
    const handOver = new HandOver({ host, approvals, approvers, cards });
    this.questions = new ApprovalQuestions({ host, approvals, cards, handOver, edits, outcomes });
    this.consent = new PeopleConsent({ host, approvals, approvers, cards });
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
    const { texts = {} } = this.#host.agent;
    return this.#asksPeople() ? approvalCommands(texts, this.#overview, this.#grants) : {};
  }

  prompt(): string | undefined {
    return waitingPrompt(this.approvals);
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
    this.#changedChats.gone(place);
  }

  conversationMoved(messengerId: string, move: ChatMove): void {
    this.#changedChats.moved(messengerId, move);
  }

  /** Whether some action of the bot may ask people, or this conversation has asked. */
  #asksPeople(): boolean {
    try {
      const actions = this.#host.actions.declared();
      if (Object.values(actions).some(({ kind }) => kind !== "server")) return true;
      return this.approvals.list({ limit: 1 }).length > 0;
    } catch {
      // A turn calls it again, and logs the reason.
      return false;
    }
  }
}

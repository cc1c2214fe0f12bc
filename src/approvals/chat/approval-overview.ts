import { sayTo, type Say } from "../../core/text/bot-texts.ts";
import { alert, type CardPress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { CardContent, Content } from "../../core/message/content.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import { APPROVALS } from "../root/approval-calls.ts";
import type { ApprovalHint, ApprovalViewer, SeenApproval } from "../root/approval-calls.ts";
import type { ShowPress } from "../rules/press-payloads.ts";
import { botTime } from "../../feature/bot-time.ts";
import { addressOf } from "../../messengers/replies/address-of.ts";
import { replyPolicy } from "../../messengers/declare/texts.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { seeApprovals } from "./seen-approvals.ts";
import { viewerOf } from "./viewer-of.ts";

const MOST_LISTED = 10;
/** More requests of one conversation are not looked at: each may ask the bot's code who may decide. */
const MOST_SEEN = 100;

interface Listed extends SeenApproval {
  /** Undefined for a request of this conversation. */
  readonly conversation?: string | undefined;
  readonly chatTitle?: string | undefined;
}

/**
 * The requests of all conversations that wait for a person, and those that the person has made. The root knows which
 * requests may concern the person; the conversation that asked decides whether the person sees one.
 */
export class ApprovalOverview {
  readonly #options: ApprovalParts;

  constructor(options: ApprovalParts) {
    this.#options = options;
  }

  /** Returns the answer to `/approvals`. */
  async list(event: MessengerEvent): Promise<Content> {
    const { approvals, host } = this.#options;
    const viewer = viewerOf(event, event.author);
    const own = approvals.waiting();
    const hints = await host.objects.root(APPROVALS).approvalHints(viewer);
    const elsewhere = hints.filter((hint) => hint.conversation !== host.objects.address());
    const [here, ...others] = await Promise.all([
      this.lookAtApprovals(
        own.slice(0, MOST_SEEN).map(({ id }) => id),
        viewer,
      ),
      ...[...Map.groupBy(elsewhere, (hint) => hint.conversation)].map((asked) => this.#lookAt(asked, viewer)),
    ]);
    const found: Listed[] = [...here, ...others.flatMap((seen) => seen ?? [])].toSorted(
      (a, b) => a.createdAt - b.createdAt,
    );
    const mine = found.filter(({ isMine }) => isMine);
    const asked = found.filter(({ isAsked, isMine }) => isAsked && !isMine);
    const say = sayTo(host.agent, viewer.person);
    return overviewCard(mine, asked, {
      say,
      isGroup: !viewer.thread.isDirectMessage,
      time: (at) => botTime(host.agent, at, say),
      isPartial: own.length > MOST_SEEN || others.includes(undefined),
    });
  }

  /** Returns those of these requests of this conversation that a person may see in a chat. */
  lookAtApprovals(ids: readonly string[], viewer: ApprovalViewer): Promise<SeenApproval[]> {
    const { approvals } = this.#options;
    const found = ids.map((id) => approvals.get(id)).filter((one) => one !== undefined);
    return seeApprovals(found, viewer, this.#options);
  }

  /** A group that has moved gets the card that it had. */
  async bringApproval(id: string, viewer: ApprovalViewer): Promise<boolean> {
    const [seen] = await this.lookAtApprovals([id], viewer);
    if (seen === undefined || (!seen.isMine && !seen.isHere)) return false;
    return this.#options.approvals.questions.show(id, addressOf(viewer));
  }

  /** Points at the card of a request, or brings it, for a press under `/approvals`. */
  async show({ chat, of, showApproval: id }: ShowPress, { event, person }: CardPress): Promise<PressAnswer> {
    const { agent, objects } = this.#options.host;
    const viewer = viewerOf(event, person);
    const say = sayTo(agent, person);
    const asking = of === undefined ? this : objects.to(APPROVALS, of);
    const [seen] = await asking.lookAtApprovals([id], viewer);
    if (seen === undefined) return alert(say("decidedByNow"));
    const { messageId } = seen;
    if (messageId !== undefined) {
      this.#pointAt(messageId, event);
      return undefined;
    }
    // An object that runs an earlier version of the bot brings no cards.
    if (await asking.bringApproval(id, viewer).catch(() => false)) return say("hereItIs");
    return alert(chat === undefined ? say("cardElsewhere") : say("cardIn", { chat }));
  }

  /** Posts a reply to a message in the chat of an event. */
  #pointAt(messageId: string, event: MessengerEvent): void {
    const { agent, messengers, thread } = this.#options.host;
    const policy = replyPolicy(messengers.find(event.messengerId)?.delivery ?? {});
    const start = {
      id: `show:${event.key}`,
      address: addressOf(event),
      policy,
      options: { replyTo: messageId },
    };
    thread.cards.post(start, sayTo(agent, event.author)("hereItIs"));
  }

  /** Undefined if the conversation cannot be asked now. */
  async #lookAt(
    [conversation, hints]: readonly [string, readonly ApprovalHint[]],
    viewer: ApprovalViewer,
  ): Promise<Listed[] | undefined> {
    try {
      const ids = hints.map(({ id }) => id);
      const seen = await this.#options.host.objects.to(APPROVALS, conversation).lookAtApprovals(ids, viewer);
      return seen.map((one) => {
        const chatTitle = hints.find(({ id }) => id === one.id)?.chatTitle;
        return { ...one, conversation, chatTitle: one.isHere ? undefined : chatTitle };
      });
    } catch {
      // Its object cannot be reached or runs another version of the bot. The list says that it is not whole.
      return undefined;
    }
  }
}

interface OverviewFacts {
  readonly isGroup: boolean;
  readonly isPartial: boolean;
  readonly say: Say;
  readonly time: (epochMs: number) => string;
}

function overviewCard(
  mine: readonly Listed[],
  asked: readonly Listed[],
  { isGroup, isPartial, say, time }: OverviewFacts,
): Content {
  const listed = [...mine, ...asked].slice(0, MOST_LISTED);
  if (listed.length === 0) {
    if (isPartial) return say("cannotLook");
    return say(isGroup ? "nothingWaitsHere" : "nothingWaits");
  }
  const lines = (from: readonly Listed[]): string[] =>
    from.flatMap((one) => {
      const index = listed.indexOf(one);
      return index === -1 ? [] : [`${index + 1}\\. ${escapeMarkdown(lineOf(one, from === mine, say, time))}`];
    });
  const left = mine.length + asked.length - listed.length;
  const more = left > 0 ? [say("andMore", { count: left })] : [];
  const text = [
    ...(mine.length > 0 ? [`**${say("waitsForYou")}**`, ...lines(mine)] : []),
    ...(asked.length > 0 ? [`**${say("youAsked")}**`, ...lines(asked)] : []),
    ...more,
    ...(isPartial ? [say("maybeMore")] : []),
  ].join("\n\n");
  const buttons = listed.map(({ chatTitle, conversation, id }, index) => ({
    kind: "callback" as const,
    label: say("showButton", { number: index + 1 }),
    payload: {
      showApproval: id,
      ...(conversation !== undefined && { of: conversation }),
      ...(chatTitle !== undefined && { chat: chatTitle }),
    },
  }));
  const rows = [buttons.slice(0, 5), buttons.slice(5)].filter((row) => row.length > 0);
  return { kind: "card", text, buttons: rows } satisfies CardContent;
}

function lineOf(
  { approvers, chatTitle, expiresAt, requester, summary }: Listed,
  isMine: boolean,
  say: Say,
  time: (epochMs: number) => string,
): string {
  return say(isMine ? "waitingLine" : "askedLine", {
    summary,
    approvers,
    asker: requester === undefined ? "" : say("lineAsker", { name: requester }),
    chat: chatTitle === undefined ? "" : say("lineChat", { chat: chatTitle }),
    time: time(expiresAt),
  });
}

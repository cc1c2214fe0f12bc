import { grantWords } from "../rules/grant-words.ts";
import type { Grant } from "../rules/grant.ts";
import { lengthWords } from "../rules/grant-length.ts";
import { nameOf } from "../rules/outcome-words.ts";
import { sayTo, type Say } from "../../core/text/bot-texts.ts";
import { alert, type CardPress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { Content } from "../../core/message/content.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import { botTime } from "../../feature/bot-time.ts";
import { APPROVALS, type ApprovalViewer, type GrantPlace, type SeenGrant } from "../root/approval-calls.ts";
import type { EndGrantPress } from "../rules/press-payloads.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { viewerOf } from "./viewer-of.ts";

const MOST_LISTED = 10;

interface Listed extends SeenGrant {
  /** Undefined for a grant of this conversation. */
  readonly conversation?: string;
}

/**
 * Lists and ends people's agreements in advance: in a group the grants of that group, in a private chat those of the
 * person in all chats. Only the person who gave a grant, and the person for whom it counts, see and end it.
 */
export class GrantOverview {
  readonly #options: ApprovalParts;

  constructor(options: ApprovalParts) {
    this.#options = options;
  }

  /** Returns the answer to `/grants`. */
  async list(event: MessengerEvent): Promise<Content> {
    const { agent, objects } = this.#options.host;
    const viewer = viewerOf(event, event.author);
    const known = await objects.root(APPROVALS).grantPlaces(viewer);
    const places = known.filter((one) => one.conversation !== objects.address());
    const others = await Promise.all(places.map((place) => this.#lookAt(place, viewer)));
    const found: Listed[] = [
      ...(await this.lookAtGrants(viewer, undefined)),
      ...others.flatMap((seen) => seen ?? []).toSorted((a, b) => b.givenAt - a.givenAt),
    ];
    const isPartial = others.includes(undefined);
    const say = sayTo(agent, viewer.person);
    if (found.length === 0) {
      if (isPartial) return say("cannotLook");
      return say("nothingAllowed");
    }
    const listed = found.slice(0, MOST_LISTED);
    const lines = listed.map(({ line }, index) => `${index + 1}\\. ${escapeMarkdown(line)}`);
    const left = found.length - listed.length;
    const more = [
      ...(left > 0 ? [say("andMore", { count: left })] : []),
      ...(isPartial ? [say("maybeMore")] : []),
    ];
    const buttons = listed.map(({ conversation: of, id }, index) => ({
      kind: "callback" as const,
      label: say("endButton", { number: index + 1 }),
      payload: { endGrant: id, ...(of !== undefined && { of }) },
    }));
    return {
      kind: "card",
      text: [`**${say("allowedWithoutAsking")}**`, ...lines, ...more].join("\n\n"),
      buttons: [buttons.slice(0, 5), buttons.slice(5)].filter((row) => row.length > 0),
    };
  }

  /** Returns the grants of this conversation that a person sees, newest first. See `DecidesApprovals`. */
  async lookAtGrants(
    { messengerId, person, thread }: ApprovalViewer,
    chat: string | undefined,
  ): Promise<SeenGrant[]> {
    const { approvals, host } = this.#options;
    const { grants } = approvals;
    const say = sayTo(host.agent, person);
    const time = (at: number): string => botTime(host.agent, at, say);
    return grants
      .inForce()
      .filter((grant) => concerns(grant, messengerId, person?.userId))
      .filter((grant) => thread.isDirectMessage || grant.threadId === thread.id)
      .map((grant) => {
        const isHere = grant.messengerId === messengerId && grant.threadId === thread.id;
        return {
          id: grant.id,
          givenAt: grant.givenAt,
          line: lineOf(grant, isHere ? "here" : { chat }, say, time),
        };
      });
  }

  /** Takes a press of a button under `/grants`. */
  async press({ endGrant: id, of }: EndGrantPress, { event, person }: CardPress): Promise<PressAnswer> {
    const owner = of === undefined ? this : this.#options.host.objects.to(APPROVALS, of);
    return owner.endGrant(id, viewerOf(event, person));
  }

  /** Ends a grant of this conversation for the person who gave it, or for whom it counts. */
  async endGrant(id: string, { messengerId, person }: ApprovalViewer): Promise<PressAnswer> {
    const { approvals, host } = this.#options;
    const { grants } = approvals;
    const say = sayTo(host.agent, person);
    const grant = grants.get(id);
    if (grant === undefined) return alert(say("grantUnknown"));
    if (person === undefined || !concerns(grant, messengerId, person.userId))
      return alert(say("grantNotYours", { giver: giverOf(grant, say), person: nameOf(grant.person) }));
    const isEnded = grants.revoke(id, { surface: "chat", person, messengerId });
    return say(isEnded ? "grantEnded" : "grantOver");
  }

  /** Undefined if the conversation cannot be asked now. */
  async #lookAt({ conversation, title }: GrantPlace, viewer: ApprovalViewer): Promise<Listed[] | undefined> {
    try {
      const seen = await this.#options.host.objects.to(APPROVALS, conversation).lookAtGrants(viewer, title);
      return seen.map((one) => ({ ...one, conversation }));
    } catch {
      // Its object cannot be reached or runs another version of the bot. The list says that it is not whole.
      return undefined;
    }
  }
}

/** Whether a person gave a grant, or it counts for the person. */
function concerns(
  { givenBy, messengerId: grantedIn, person }: Grant,
  messengerId: string,
  userId: string | undefined,
): boolean {
  if (userId === undefined) return false;
  const isFor = grantedIn === messengerId && person.userId === userId;
  return isFor || ((givenBy.messengerId ?? grantedIn) === messengerId && givenBy.person?.userId === userId);
}

function lineOf(
  grant: Grant,
  where: "here" | { readonly chat: string | undefined },
  say: Say,
  time: (epochMs: number) => string,
): string {
  const { length, person, schedule, until, uses } = grant;
  const hasEnd = length === "hour" && until !== undefined;
  return say("grantLine", {
    terms: grantWords(grant, { requester: person, schedule }, say, where),
    length: lengthWords(length, say),
    end: hasEnd ? say("grantEnd", { time: time(until) }) : "",
    giver: giverOf(grant, say),
    used: uses === 1 ? say("usedOnce") : say("usedTimes", { count: uses }),
  });
}

function giverOf({ givenBy }: Grant, say: Say): string {
  return givenBy.person === undefined ? say("botTeam") : nameOf(givenBy.person);
}

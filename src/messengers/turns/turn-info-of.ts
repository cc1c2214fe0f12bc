import type { MessengerAuthor } from "../../core/messenger-event.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import type { Prompts } from "./prompts.ts";

export interface TurnFacts {
  readonly turns: Pick<TurnStore, "get">;
  readonly inbox: Pick<InboxStore, "rows">;
  readonly prompts: Pick<Prompts, "get">;
}

/** Returns a turn as the bot's own code sees it. Undefined if the turn is unknown, or was forgotten. */
export function turnInfoOf(turnId: string, { inbox, prompts, turns }: TurnFacts): TurnInfo | undefined {
  const turn = turns.get(turnId);
  if (turn === undefined) return undefined;
  const { id, kind } = turn;
  if (turn.kind !== "messages") {
    const { answerTo = [], channel, continues = false, metadata } = prompts.get(id) ?? {};
    return {
      id,
      kind,
      authors: [],
      answerTo,
      ...(metadata !== undefined && { metadata }),
      ...(channel !== undefined && { channel }),
      ...(continues && { continues }),
    };
  }
  const authors = new Map<string, MessengerAuthor>();
  for (const { event } of inbox.rows(turn.messageSeqs)) {
    if (event?.author !== undefined) authors.set(event.author.userId, event.author);
  }
  return { id, kind, authors: [...authors.values()], answerTo: [turn.address], event: turn.context };
}

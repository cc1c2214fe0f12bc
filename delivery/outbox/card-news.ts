import type { CardNews } from "../../src/core/chat/gate.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import type { Reply } from "./reply.ts";
import { cardForms } from "./card-forms.ts";
import { keyOf } from "./reply-body.ts";

/** Returns the facts about a card that the gate of its chat must know. Undefined if the reply is not a card. */
export function cardNews({ entries, record }: Reply, surface: Surface): CardNews | undefined {
  const { body } = record;
  const card = body?.kind === "card" ? body.card : undefined;
  const key = body === undefined ? undefined : keyOf(body);
  if (key === undefined) return undefined;
  const sent = entries.map(({ row }) => row).filter(({ state }) => state === "sent");
  const sentAt = Math.max(0, ...sent.map((row) => row.sentAt ?? 0));
  return {
    key,
    revision: record.finishedAt ?? 0,
    options: optionsOf(record.body, surface),
    messageIds: sent.flatMap(({ messageId }) => messageId ?? []),
    ...(sentAt > 0 && { sentAt }),
    ...(card?.asksForWord === true && { asksForWord: true }),
    ...(card?.asksForQuote === true && { asksForQuote: true }),
    ...(card?.asksForMessage === true && { asksForMessage: true }),
  };
}

function optionsOf(body: Reply["record"]["body"], surface: Surface): number {
  if (body?.kind !== "card") return 0;
  if (body.card.numbered !== true && cardForms(body, surface).capabilities.buttons) return 0;
  return (body.card.buttons ?? []).flat().filter(({ kind }) => kind === "callback").length;
}

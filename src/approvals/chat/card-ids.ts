import type { Approval } from "../rules/approval.ts";

const PREFIX = "approval:";

/** The id of the card in the chat that asked. Other cards have a number after it. */
export function cardIdOf({ cardOf, id, together }: Pick<Approval, "cardOf" | "id" | "together">): string {
  return `${PREFIX}${together ?? cardOf ?? id}`;
}

/** The id of a card in a chat to which the question was brought. */
export function broughtCardIdOf({ cardOf, id }: Pick<Approval, "cardOf" | "id">, index: number): string {
  return `${PREFIX}${cardOf ?? id}:to:${index}`;
}

/** The id of the card of a form that changes the input. */
export function editCardIdOf({ id }: Pick<Approval, "id">, number: number): string {
  return `${PREFIX}${id}:edit:${number}`;
}

/** Returns the question and the number of the form on a card. Undefined if the card is another one. */
export function editOfCard(cardId: string): { readonly id: string; readonly number: number } | undefined {
  const [, id, number] = /^approval:([^:]+):edit:(\d+)$/.exec(cardId) ?? [];
  return id === undefined ? undefined : { id, number: Number(number) };
}

/** The key of the turn that tells an approval's outcome, and the begin of the ids of messages about it. */
export function outcomeKeyOf({ id }: Pick<Approval, "id">): string {
  return `${PREFIX}${id}`;
}

/** Returns the approval that first posted a card, and whether the card is in another chat than the one that asked. */
export function approvalOfCard(
  cardId: string,
): { readonly id: string; readonly isElsewhere: boolean; readonly isBrought: boolean } | undefined {
  const [, id, place] = /^approval:([^:]+)(?::(\d+|to:\d+))?$/.exec(cardId) ?? [];
  if (id === undefined) return undefined;
  return { id, isElsewhere: place !== undefined, isBrought: place?.startsWith("to:") === true };
}

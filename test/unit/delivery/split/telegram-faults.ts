import type { RichText, TextEntity } from "../../../../src/core/message/rich-text.ts";

/** What the Bot API would refuse or silently change in a message. Empty for a good one. */
export function telegramFaults(
  content: RichText,
  limits: { maxLength: number; maxEntities: number },
): string[] {
  const faults: string[] = [];
  const { text, entities } = content;
  if (text.length > limits.maxLength) faults.push(`${text.length} units, at most ${limits.maxLength}`);
  if (entities.length > limits.maxEntities) faults.push(`${entities.length} entities`);
  const startsInCode = entities.some(({ type, offset }) => type === "pre" && offset === 0);
  if (text.trim() === "") faults.push("nothing to see");
  if (text.trimEnd() !== text) faults.push("whitespace at the end");
  if (!startsInCode && text.trimStart() !== text) faults.push("whitespace at the start");
  if (!text.isWellFormed()) faults.push("half a surrogate pair");
  for (const [index, entity] of entities.entries()) {
    const holdsCode = entities.some(({ type, offset }) => type === "pre" && offset === entity.offset);
    faults.push(...entityFaults(text, entity, holdsCode));
    for (const other of entities.slice(index + 1)) faults.push(...pairFaults(entity, other));
  }
  return faults;
}

function entityFaults(text: string, entity: TextEntity, holdsCode: boolean): string[] {
  const faults: string[] = [];
  const covered = text.slice(entity.offset, entity.offset + entity.length);
  if (entity.offset < 0 || entity.length < 1 || covered.length !== entity.length)
    faults.push(`${entity.type} out of range`);
  if (covered.trimEnd() !== covered) faults.push(`${entity.type} ends with whitespace`);
  if (!holdsCode && covered.trimStart() !== covered) faults.push(`${entity.type} begins with whitespace`);
  if (!covered.isWellFormed()) faults.push(`${entity.type} cuts a surrogate pair`);
  return faults;
}

function pairFaults(first: TextEntity, second: TextEntity): string[] {
  const firstEnd = first.offset + first.length;
  const secondEnd = second.offset + second.length;
  if (second.offset >= firstEnd) return [];
  const faults: string[] = [];
  if (second.offset < first.offset) faults.push("not in order");
  if (secondEnd > firstEnd) faults.push(`${first.type} and ${second.type} overlap`);
  const isCode = (entity: TextEntity): boolean => entity.type === "code" || entity.type === "pre";
  if (isCode(first)) faults.push(`${second.type} inside ${first.type}`);
  if (isCode(second) && first.type !== "blockquote") faults.push(`${second.type} inside ${first.type}`);
  if (first.type === second.type) faults.push(`${first.type} inside itself`);
  return faults;
}

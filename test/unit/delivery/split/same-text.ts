import type { RichText, TextEntity } from "../../../../src/core/message/rich-text.ts";

export interface Alignment {
  /** What is wrong, or undefined where the parts hold the text. */
  readonly fault: string | undefined;
  /** Where each part begins and ends in the text. */
  readonly slices: readonly { readonly start: number; readonly end: number }[];
}

/**
 * "The same text": the parts are consecutive slices of the text of the whole document (that is, of the one part that
 * it gives where there is no limit), only whitespace is missing between two slices, and a part may repeat the
 * quote marks "> " of the line that it begins in. Every character has the formatting that it has in the whole.
 */
export function alignParts(whole: RichText, parts: readonly RichText[]): Alignment {
  const slices: { start: number; end: number }[] = [];
  let at = 0;
  for (const [number, part] of parts.entries()) {
    const place = findSlice(whole.text, at, part.text);
    if (place === undefined) {
      const expected = JSON.stringify(whole.text.slice(at, at + 60));
      return {
        fault: `part ${number} begins ${JSON.stringify(part.text.slice(0, 60))}, expected ${expected}`,
        slices,
      };
    }
    const repeated = part.text.length - (place.end - place.start);
    const fault = compareStyles(whole, part, place.start, repeated);
    if (fault !== undefined) return { fault: `part ${number}: ${fault}`, slices };
    slices.push(place);
    at = place.end;
  }
  const left = whole.text.slice(at);
  return {
    fault: /^[\s\p{Default_Ignorable_Code_Point}\p{Control}]*$/u.test(left)
      ? undefined
      : `lost ${JSON.stringify(left.slice(0, 80))}`,
    slices,
  };
}

function findSlice(whole: string, from: number, part: string): { start: number; end: number } | undefined {
  for (const text of [part, part.replace(/^(?:> )+/, "")]) {
    let start = from;
    for (;;) {
      if (text !== "" && whole.startsWith(text, start)) return { start, end: start + text.length };
      if (!/[\s\p{Default_Ignorable_Code_Point}\p{Control}>]/u.test(whole.charAt(start))) break;
      start += 1;
    }
  }
  return undefined;
}

function compareStyles(whole: RichText, part: RichText, start: number, repeated: number): string | undefined {
  const expected = stylesOf(whole);
  const actual = stylesOf(part);
  for (let index = repeated; index < part.text.length; index += 1) {
    if (/\s/.test(part.text.charAt(index))) continue;
    const at = start + index - repeated;
    if (expected[at] === actual[index]) continue;
    // An address that is cut becomes a link of its own, because the platform would find only a half.
    const link = /text_link<(.*?)>/.exec(actual[index] ?? "")?.[1];
    const isCutAddress = link !== undefined && whole.text.includes(link.replace(/^http:\/\/(?=www)/, ""));
    if (isCutAddress && actual[index]?.replace(/text_link<.*?>;/, "") === expected[at]) continue;
    return `${JSON.stringify(part.text.slice(index, index + 20))} has ${actual[index]}, expected ${expected[at]}`;
  }
  return undefined;
}

const known = new WeakMap<RichText, string[]>();

function stylesOf(content: RichText): string[] {
  const cached = known.get(content);
  if (cached !== undefined) return cached;
  const styles: string[][] = Array.from({ length: content.text.length }, () => []);
  for (const entity of content.entities) {
    for (let at = entity.offset; at < entity.offset + entity.length; at += 1)
      styles[at]?.push(nameOf(entity));
  }
  const joined = styles.map((names) =>
    names
      .toSorted()
      .map((name) => `${name};`)
      .join(""),
  );
  known.set(content, joined);
  return joined;
}

function nameOf(entity: TextEntity): string {
  if (entity.type === "text_link") return `text_link<${entity.url}>`;
  return entity.type === "pre" ? `pre(${entity.language ?? ""})` : entity.type;
}

import type { Json } from "../../core/message/content.ts";
import type { Approval } from "./approval.ts";
import { wordsIn } from "../../forms/words-in.ts";
import { isList } from "./input-fields.ts";
import { inOneLine } from "../../core/text/one-line.ts";
import { summaryOf } from "./summary-of.ts";

type Said = Pick<Approval, "input" | "sensitive" | "summary" | "summaryReads">;

/**
 * The paths of the input that the summary of a request says, so that the card need not repeat them.
 *
 * 1. The action's function has read the value to make the summary. A word that stands there anyway says nothing.
 * 2. The summary has the value as a whole word, or as the same number, however it is written. An amount in cents may be
 *    written as euros.
 * 3. Each place of the summary speaks for one value only.
 */
export function saidPaths(approval: Said): ReadonlySet<string> {
  const summary = summaryOf(approval);
  const found = (approval.summaryReads ?? []).flatMap((path) => {
    const words = placesOf(valueAt(approval.input, path.split(".")), path, summary);
    return words.length === 0 ? [] : [{ path, places: words }];
  });
  return new Set(
    found
      .filter(({ places }) => {
        const rivals = found.filter((other) => other.places.some((at) => places.includes(at)));
        return rivals.length <= new Set(rivals.flatMap((rival) => rival.places)).size;
      })
      .map(({ path }) => path),
  );
}

function valueAt(value: Json | undefined, [key, ...rest]: readonly string[]): Json | undefined {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null || isList(value)) return undefined;
  return valueAt(Object.hasOwn(value, key) ? value[key] : undefined, rest);
}

/** The places of the summary, as indexes, that say this value. */
function placesOf(value: Json | undefined, path: string, summary: string): number[] {
  if (typeof value === "number") return numberPlaces(value, path, summary);
  if (typeof value !== "string") return [];
  const words = inOneLine(value).replaceAll(/\s+/g, " ");
  if (words === "") return [];
  const places: number[] = [];
  for (let at = summary.indexOf(words); at !== -1; at = summary.indexOf(words, at + 1))
    if (isWhole(summary.charAt(at - 1)) && isWhole(summary.charAt(at + words.length))) places.push(at);
  return places;
}

function isWhole(beside: string): boolean {
  return !/[\p{L}\p{N}]/u.test(beside);
}

const NUMBER = /(?<![\p{L}\p{N}.,])\d(?:[\d.,'’\u00A0\u202F]*\d)?(?![\p{L}\p{N}])/gu;
const HUNDREDTHS = /\b(?:cents?|pence|pennies|minor|øre|öre|rappen)\b/;

function numberPlaces(value: number, path: string, summary: string): number[] {
  const wanted = new Set([value, HUNDREDTHS.test(wordsIn(path.split("."))) ? value / 100 : value]);
  return [...summary.matchAll(NUMBER)]
    .filter(([token, ..._rest]) => readings(token).some((one) => wanted.has(one)))
    .map(({ index }) => index);
}

/** The numbers that a text can stand for: "1.234" is 1234 for some people. */
function readings(token: string): number[] {
  const plain = token.replaceAll(/['’\u00A0\u202F]/g, "");
  const points = plain.replaceAll(",", "");
  const commas = plain.replaceAll(".", "").replaceAll(",", ".");
  return [points, commas].map(Number).filter((one) => Number.isFinite(one));
}

import type { PhrasingContent } from "mdast";
import { isCjk } from "./cjk-emphasis.ts";

const LINK_END = /\]\((https?:\/\/[^\s()<>[\]`]+)\)/y;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/** Characters that can begin or end a construct inside a line. */
const SPECIAL = /[*_`[\]:~]/g;

/** A run of `*` or `_`, or a `[`, whose content is being read. */
interface Frame {
  readonly opener: string;
  readonly children: PhrasingContent[];
}

/**
 * Parses inline content in which every opener is closed, in order, by a run that can only be its closer. Returns
 * undefined for anything else.
 */
export function parseSimpleInline(text: string): PhrasingContent[] | undefined {
  const root: PhrasingContent[] = [];
  const frames: Frame[] = [];
  let children = root;
  let from = 0;
  SPECIAL.lastIndex = 0;
  for (let match = SPECIAL.exec(text); match !== null; match = SPECIAL.exec(text)) {
    const at = match.index;
    const character = match[0];
    let end = at + 1;
    const take = (): void => {
      pushText(children, text.slice(from, at));
      from = end;
      SPECIAL.lastIndex = end;
    };
    if (character === ":") {
      if (text.startsWith("://", at)) return undefined;
    } else if (character === "~") {
      if (/[*_]/.test(text.charAt(at - 1) + text.charAt(end))) return undefined;
    } else if (character === "`") {
      const close = text.indexOf("`", end);
      if (close === -1) return undefined;
      const value = text.slice(end, close);
      if (/^\s|\s$|\n/.test(value)) return undefined;
      end = close + 1;
      take();
      children.push({ type: "inlineCode", value });
    } else if (character === "[") {
      if (frames.some(({ opener }) => opener === "[")) return undefined;
      take();
      children = open(frames, "[", children);
    } else if (character === "]") {
      LINK_END.lastIndex = at;
      const url = LINK_END.exec(text)?.[1];
      const frame = frames.pop();
      if (url === undefined || frame?.opener !== "[" || (from === at && children.length === 0))
        return undefined;
      end = LINK_END.lastIndex;
      take();
      const link: PhrasingContent = { type: "link", title: null, url, children };
      children = frame.children;
      children.push(link);
    } else {
      while (text.charAt(end) === character) end += 1;
      const run = text.slice(at, end);
      const role = roleOf(text, at, end);
      if (role === "text") {
        SPECIAL.lastIndex = end;
        continue;
      }
      if (role === "unclear" || run.length > 2) return undefined;
      take();
      if (role === "opens") {
        children = open(frames, run, children);
        continue;
      }
      const frame = frames.pop();
      if (frame?.opener !== run || children.length === 0) return undefined;
      const node: PhrasingContent = { type: run.length === 2 ? "strong" : "emphasis", children };
      children = frame.children;
      children.push(node);
    }
  }
  if (frames.length > 0) return undefined;
  pushText(root, text.slice(from));
  return root;
}

function open(frames: Frame[], opener: string, children: PhrasingContent[]): PhrasingContent[] {
  frames.push({ opener, children });
  return [];
}

function pushText(children: PhrasingContent[], value: string): void {
  if (value !== "") children.push({ type: "text", value });
}

/** Tells how a run of `*` or `_` can be used, from the characters beside it. */
function roleOf(text: string, at: number, end: number): "opens" | "closes" | "text" | "unclear" {
  const before = kindOf(text.charAt(at - 1));
  const after = kindOf(text.charAt(end));
  const isBesideCjk = isCjk(text.charAt(at - 1)) || isCjk(text.charAt(end));
  if (isBesideCjk && (before === "punctuation" || after === "punctuation")) return "unclear";
  const left = after === "word" || (after === "punctuation" && before !== "word");
  const right = before === "word" || (before === "punctuation" && after !== "word");
  const isUnderscore = text.charAt(at) === "_";
  const opens = left && (!isUnderscore || before !== "word");
  const closes = right && (!isUnderscore || after !== "word");
  if (opens && closes) return "unclear";
  if (opens) return "opens";
  return closes ? "closes" : "text";
}

function kindOf(character: string): "space" | "punctuation" | "word" {
  if (character === "" || /\s/.test(character)) return "space";
  return PUNCTUATION.test(character) ? "punctuation" : "word";
}

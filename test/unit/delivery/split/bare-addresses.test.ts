import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fullParse } from "../../../../delivery/text/split/parse/parse-markdown.ts";
import { markdown } from "./arbitrary-markdown.ts";
import { essence } from "./tree-essence.ts";

const blocksOf = (source: string) => fullParse(source, new Map()).children.map(essence);
/** The same blocks, read together with a sign that begins the search. */
const searchedBlocksOf = (source: string) => blocksOf(`@\n\n${source}`).slice(1);

const fragment = fc.constantFrom(
  ..."a|b.co|/c?d=e|.| |\n|\n\n|*|**|_|`|[|](|)|<|>|\\|~~|&|&#x40;|&commat;|@|://|http|HTTPS://|www|WWW.|&#119;|ftp:|mailto:|xmpp:".split(
    "|",
  ),
);
const texts = fc.array(fragment, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(""));

describe("a bare address", () => {
  it("is found in any text in which the whole search finds one", () => {
    fc.assert(
      fc.property(fc.oneof(texts, texts, markdown), (source) => {
        expect(blocksOf(source)).toEqual(searchedBlocksOf(source));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["see www.e.com", "http://www.e.com"],
    ["see WWW.e.com", "http://WWW.e.com"],
    ["see &#119;ww.e.com", "http://www.e.com"],
    ["write to ann&#64;e.com", "mailto:ann@e.com"],
  ])("is found in %s", (source, url) => {
    expect(JSON.stringify(blocksOf(source))).toContain(`"url":"${url}"`);
  });
});

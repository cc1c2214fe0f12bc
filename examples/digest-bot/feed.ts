/** One entry of a feed. */
export interface FeedItem {
  readonly title: string;
  readonly link: string;
  readonly summary: string;
}

const MOST_ITEMS = 20;
const MOST_SUMMARY = 500;
const TIMEOUT_MS = 10_000;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * Fetches the newest entries of an RSS feed.
 *
 * @throws {Error} if the feed cannot be read; the occurrence is then tried again
 */
export async function fetchFeed(url: string): Promise<FeedItem[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`The feed answered ${response.status}`);
  return parseFeed(await response.text());
}

/** Reads the entries of an RSS feed, newest first as the feed has them. */
export function parseFeed(xml: string): FeedItem[] {
  const items = [...xml.matchAll(/<item\b[^>]*>([\s\S]*?)<\/item>/g)].map(([, item = ""]) => ({
    title: textOf(item, "title"),
    link: textOf(item, "link"),
    summary: textOf(item, "description").slice(0, MOST_SUMMARY),
  }));
  return items.filter(({ title }) => title !== "").slice(0, MOST_ITEMS);
}

function textOf(item: string, tag: string): string {
  const raw = new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`).exec(item)?.[1] ?? "";
  const data = /^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/.exec(raw)?.[1];
  const text =
    data ?? raw.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_all, name: string) => ENTITIES[name] ?? "");
  return text
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

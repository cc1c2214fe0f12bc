import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface FeedEntry {
  readonly title: string;
  readonly link: string;
  readonly summary: string;
}

export interface FeedServer {
  /** Address of the RSS feed. */
  readonly url: string;
  /** Puts an entry before the others. */
  publish(entry: FeedEntry): void;
  close(): Promise<void>;
}

const ENTRIES: readonly FeedEntry[] = [
  {
    title: "City library stays open until midnight",
    link: "https://news.example/library",
    summary: "From December on, the city library closes at midnight on weekdays.",
  },
  {
    title: "New night bus & tram timetable",
    link: "https://news.example/night-bus",
    summary: "Night buses run every 20 minutes between <b>1:00</b> and 5:00.",
  },
  {
    title: "Coffee prices fall for the third month",
    link: "https://news.example/coffee",
    summary: "Roasters expect cheaper beans until spring.",
  },
];

/** A news site with an RSS feed at `/feed.xml`. */
export async function startFeed(port = 0): Promise<FeedServer> {
  let entries = ENTRIES;
  const server = createServer((request, response) => {
    if (request.url !== "/feed.xml") {
      response.writeHead(404).end("There is nothing here. The feed is at /feed.xml.");
      return;
    }
    response.writeHead(200, { "content-type": "application/rss+xml; charset=utf-8" }).end(rssOf(entries));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`,
    publish(entry) {
      entries = [entry, ...entries];
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function rssOf(entries: readonly FeedEntry[]): string {
  const items = entries.map(
    ({ link, summary, title }) =>
      `<item><title>${escaped(title)}</title><link>${escaped(link)}</link><description><![CDATA[${summary}]]></description></item>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>City news</title>${items.join("")}</channel></rss>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

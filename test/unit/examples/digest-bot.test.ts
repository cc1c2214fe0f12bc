import { afterEach, describe, expect, it } from "vitest";
import { fetchFeed, parseFeed } from "../../../examples/digest-bot/feed.ts";
import { startFeed } from "../../../playground/feed/feed-server.ts";
import type { FeedServer } from "../../../playground/feed/feed-server.ts";

let feed: FeedServer | undefined;
afterEach(async () => feed?.close());

describe("the feed of the digest bot", () => {
  it("is read from the playground's news site, newest first", async () => {
    feed = await startFeed();
    feed.publish({ title: "Snow", link: "https://news.example/snow", summary: "It snows." });
    const items = await fetchFeed(feed.url);
    expect(items[0]).toEqual({ title: "Snow", link: "https://news.example/snow", summary: "It snows." });
    expect(items[2]).toEqual({
      title: "New night bus & tram timetable",
      link: "https://news.example/night-bus",
      summary: "Night buses run every 20 minutes between 1:00 and 5:00.",
    });
  });

  it("fails if the site has no feed, so that the occurrence is tried again", async () => {
    feed = await startFeed();
    await expect(fetchFeed(feed.url.replace("feed.xml", "other"))).rejects.toThrow("The feed answered 404");
  });

  it.each([
    ["", []],
    ["<rss><channel></channel></rss>", []],
    ["<item><title></title></item>", []],
    ["<item><title>A &lt;b&gt; &amp;amp; c</title></item>", [{ title: "A &amp; c", link: "", summary: "" }]],
  ])("survives a feed that is odd: %s", (xml, expected) => {
    expect(parseFeed(xml)).toEqual(expected);
  });
});

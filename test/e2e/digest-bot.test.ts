import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { startFeed } from "../../playground/feed/feed-server.ts";
import type { FeedServer } from "../../playground/feed/feed-server.ts";

describe("the digest bot", () => {
  let feed: FeedServer;
  let rig: Rig;

  beforeAll(async () => {
    feed = await startFeed();
    rig = await startRig({
      config: "examples/digest-bot/wrangler.jsonc",
      env: { NEWS_FEED_URL: feed.url },
    });
  });
  afterAll(async () => {
    await rig.close();
    await feed.close();
  });

  it("sums up the feed when somebody asks, and takes subscribers", async () => {
    const user = rig.simulator.addUser();
    const chat = rig.simulator.privateChat(user);
    const shows = (text: string) =>
      rig.simulator.waitFor(
        () =>
          rig.simulator.messages(chat).some((message) => message.from.isBot && message.text.includes(text)),
        { timeoutMs: 60_000 },
      );
    rig.simulator.sendText(chat, user, "/subscribe");
    await shows("You're subscribed");
    rig.simulator.sendText(chat, user, "/news");
    await shows("City library stays open until midnight");
    rig.simulator.sendText(chat, user, "/schedules");
    await shows("There are no schedules here");
    expect(rig.model.requests()).toHaveLength(1);
  });
});

import type { StartBeside } from "../beside.ts";
import { startFeed } from "./feed-server.ts";

/** Starts a news feed beside the digest bot, unless the bot has a feed of its own. */
const startFeedBeside: StartBeside = async ({ environment }) => {
  if ((environment["NEWS_FEED_URL"] ?? "") !== "") return undefined;
  const feed = await startFeed();
  return {
    variables: { NEWS_FEED_URL: feed.url },
    addresses: { feed: feed.url },
    suggestions: ["/news", "/subscribe", "remind me to read the news tomorrow at 9"],
    close: () => feed.close(),
  };
};

export default startFeedBeside;

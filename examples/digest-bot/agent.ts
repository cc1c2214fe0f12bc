import { modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkCommands, ThinkScheduledTasks } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { fetchFeed } from "./feed.ts";

interface Env extends BotEnvironment {
  /** Address of an RSS feed. */
  NEWS_FEED_URL?: string;
}

/** Sends a summary of a news feed to its subscribers on weekday mornings, and makes digests that people ask for. */
export class DigestBot extends Think<Env> {
  /** People ask for digests and reminders of their own, in their own words. */
  override chatSchedules = true;
  override subscribeCommands = true;

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return [
      "You write news digests in a chat: at most five points, one short sentence each, with the link of the entry.",
      "Only say what the data says. Answer questions about earlier digests from what you sent.",
      "People get the morning digest with /subscribe. Use schedule_digest and remind_me for wishes of their own.",
    ].join("\n");
  }

  override getDefaultTimezone() {
    return "Europe/London";
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    return {
      morningNews: {
        schedule: "every weekday at 08:00",
        prompt: "Write the morning digest of these entries.",
        // Nothing new in the feed: no model call, and no message.
        source: () => this.#news(),
        deliverTo: "subscribers",
        retry: { maxAttempts: 3 },
      },
    };
  }

  override getCommands(): ThinkCommands {
    return {
      news: {
        description: "Sum up the news now",
        handler: async () => {
          const news = await this.#news();
          if (news.length === 0) return "There is no news right now.";
          return { prompt: `Write a digest of these entries:\n${JSON.stringify(news)}` };
        },
      },
    };
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  async #news() {
    const { NEWS_FEED_URL } = this.env;
    return NEWS_FEED_URL ? fetchFeed(NEWS_FEED_URL) : [];
  }
}

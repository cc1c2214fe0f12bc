import { broken, degraded, type Contract } from "../expectation.ts";

export const slackContract: Contract = {
  title: "Slack",
  expected: {
    markdown: broken('source is shown: "| "', "the source of tables is shown"),
    typing: broken("not shown", "not shown in private chats"),
    "press-note": degraded("as a message", "as a message"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
  },
};

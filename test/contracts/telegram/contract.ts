import { cannot, degraded, type Contract } from "../expectation.ts";

export const telegramContract: Contract = {
  title: "Telegram",
  expected: {
    markdown: degraded("without table", "tables are a block of fixed width, unless rich messages are on"),
    mentions: degraded(
      "somebody is notified",
      "a person with a user name is notified by it, as by any message of people",
    ),
    delete: cannot("impossible", "the platform does not report deletions"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
  },
};

import { cannot, degraded, type Contract } from "../expectation.ts";

export const telegramContract: Contract = {
  title: "Telegram",
  expected: {
    markdown: degraded("without table", "tables are a block of fixed width, unless rich messages are on"),
    delete: cannot("impossible", "the platform does not report deletions"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
  },
};

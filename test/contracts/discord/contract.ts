import { broken, cannot, degraded, type Contract } from "../expectation.ts";

const NO_GATEWAY = "ordinary messages need a connection to the Gateway, which the bot does not have";
const THINKING = "the sign that an answer will come stays, and the answer stands below it";

export const discordContract: Contract = {
  title: "Discord",
  expected: {
    answer: broken("2 messages", THINKING),
    markdown: cannot("without table", "tables are a block of fixed width"),
    "file-in": cannot("impossible", NO_GATEWAY),
    addressing: cannot(
      "without private messages, mentions, follow-ups",
      `commands and presses alone: ${NO_GATEWAY}`,
    ),
    "press-note": degraded("as a message", "as a message"),
    edit: cannot("impossible", NO_GATEWAY),
    delete: cannot("impossible", NO_GATEWAY),
    flood: broken("1 times and 1 other messages", THINKING),
    "long-flood": broken("1 times and 1 other messages", THINKING),
    "error-500": broken("1 times and 1 other messages", THINKING),
    "error-503": broken("1 times and 1 other messages", THINKING),
    cut: broken("1 times and 1 other messages", THINKING),
    "no-answer": broken("1 times and 1 other messages", THINKING),
    kill: broken("2 messages", THINKING),
    "say-unknown": degraded("chat-unknown", "only after somebody has used a command there"),
  },
};

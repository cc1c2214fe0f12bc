import { cannot, degraded, type Contract } from "../expectation.ts";

export const slackContract: Contract = {
  title: "Slack",
  expected: {
    typing: cannot(
      "not shown",
      "the adapter shows it in threads alone, and the suite writes outside of them",
    ),
    "press-note": degraded("as a message", "as a message"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
  },
};

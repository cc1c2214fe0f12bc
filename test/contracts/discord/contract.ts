import { cannot, degraded, type Contract } from "../expectation.ts";

const NO_GATEWAY = "ordinary messages need a connection to the Gateway, which the bot does not have";

export const discordContract: Contract = {
  title: "Discord",
  expected: {
    markdown: degraded("without table", "tables are a block of fixed width"),
    "file-in": cannot("impossible", NO_GATEWAY),
    addressing: cannot(
      "without private messages, mentions, follow-ups",
      `commands and presses alone: ${NO_GATEWAY}`,
    ),
    "late-press": cannot("impossible", "the platform delivers a press once, within seconds"),
    "press-note": degraded("as a message", "as a message"),
    edit: cannot("impossible", NO_GATEWAY),
    delete: cannot("impossible", NO_GATEWAY),
    form: cannot("number without effect", `choices alone: ${NO_GATEWAY}`),
    "form-attacked": cannot("number without effect", `choices alone: ${NO_GATEWAY}`),
    late: cannot("impossible", "the platform delivers a command once, within seconds"),
    "edit-limit": cannot(
      "impossible",
      "only messages of an hour ago take few changes; the bot then tries again",
    ),
    "say-unknown": degraded("chat-unknown", "only after somebody has used a command there"),
  },
};

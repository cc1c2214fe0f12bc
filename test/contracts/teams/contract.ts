import { cannot, degraded, type Contract } from "../expectation.ts";

/** Bots cannot list messages, and no call has a key. */
const TWICE = "comes twice, the second one marked: messages cannot be looked up";

export const teamsContract: Contract = {
  title: "Microsoft Teams",
  expected: {
    markdown: degraded("without table", "tables are a block of fixed width, and lists lines with a bullet"),
    "file-out": degraded(
      "after consent",
      "comes into the OneDrive of a person who allows it, in private chats; elsewhere it is named",
    ),
    addressing: cannot(
      "without follow-ups",
      "follow-ups need a mention, too: in spaces and channels the bot hears of nothing else",
    ),
    "press-note": degraded("as a message", "as a message"),
    command: degraded("typed", "typed"),
    "edit-limit": cannot("impossible", "the platform sets no such limit"),
    "error-500": degraded("once, marked as sent again", "is marked as sent again"),
    cut: degraded("2 times, marked as sent again", TWICE),
    "no-answer": degraded("2 times, marked as sent again", TWICE),
    "lost-words": degraded(
      "2 messages",
      "they stay, and the repetition is marked: messages cannot be looked up",
    ),
    "say-unknown": degraded("impossible", "only after somebody has written to the bot there"),
  },
};

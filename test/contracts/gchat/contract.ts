import { cannot, degraded, type Contract } from "../expectation.ts";

export const gchatContract: Contract = {
  title: "Google Chat",
  expected: {
    markdown: degraded("without table", "tables become text: messages have none"),
    "file-out": degraded("named", "is named: files cannot be sent"),
    addressing: cannot(
      "without follow-ups",
      "follow-ups need a mention, too: in spaces and channels the bot hears of nothing else",
    ),
    "press-note": degraded("as a message", "as a message"),
    edit: cannot("impossible", "the platform does not report edits"),
    delete: cannot("impossible", "the platform does not report deletions"),
    "edit-limit": cannot("impossible", "the platform sets no such limit"),
    typing: cannot("not shown", "the platform cannot show it"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
    "long-wait": degraded("5 s", "tries again after 5 s: the platform tells no time"),
  },
};

import { cannot, degraded, type Contract } from "../expectation.ts";

const NO_GROUPS = "private chats only: messages of groups are left alone";

export const whatsappContract: Contract = {
  title: "WhatsApp",
  expected: {
    answer: cannot("in one piece", "arrives in one piece: messages cannot be edited"),
    markdown: degraded("without table", "tables are a block of fixed width"),
    addressing: cannot("without mentions, follow-ups", NO_GROUPS),
    card: degraded("old buttons stay", "works, and the buttons stay below the decided card"),
    "strangers-press": cannot("impossible", NO_GROUPS),
    "form-attacked": cannot("impossible", NO_GROUPS),
    "words-attacked": cannot("impossible", NO_GROUPS),
    names: cannot("impossible", NO_GROUPS),
    "press-note": degraded("as a message", "as a message"),
    command: degraded("typed", "typed"),
    edit: cannot("impossible", "the platform does not report edits"),
    delete: cannot("impossible", "the platform does not report deletions"),
    "edit-limit": cannot("impossible", "messages cannot be edited"),
    "error-500": degraded("once, marked as sent again", "is marked as sent again"),
    "long-wait": degraded("5 s", "tries again after 5 s: the platform tells no time"),
    "say-unknown": cannot("impossible", NO_GROUPS),
  },
};

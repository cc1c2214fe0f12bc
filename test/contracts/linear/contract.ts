import { cannot, degraded, type Contract } from "../expectation.ts";

export const linearContract: Contract = {
  title: "Linear",
  expected: {
    answer: degraded("in one piece", "arrives in one piece: people hear of a comment when it is posted"),
    "file-in": cannot("not seen", "files are links that people with access alone can open"),
    "file-out": degraded("named", "is named: files cannot be sent"),
    addressing: cannot("without private messages", "there are no private chats"),
    card: degraded("by number", "is answered by a number: there are no buttons"),
    "late-press": cannot("impossible", "there are no buttons"),
    "reordered-presses": cannot("impossible", "there are no buttons"),
    "strangers-press": cannot("impossible", "there are no buttons"),
    "press-note": degraded("as a message", "as a message"),
    command: degraded("typed", "typed"),
    "edit-limit": cannot("impossible", "the platform sets no such limit"),
    typing: cannot("not shown", "the platform cannot show it"),
    "say-unknown": degraded("chat-unknown", "only after somebody has written to the bot there"),
  },
};

const { typing: _shown, ...asWithComments } = linearContract.expected;

/** With `mode: "agent-sessions"`. */
export const linearSessionsContract: Contract = {
  title: "Linear sessions",
  expected: {
    ...asWithComments,
    edit: cannot("impossible", "the platform does not report edits"),
    delete: cannot("impossible", "the platform does not report deletions"),
    "edit-limit": cannot("impossible", "activities of a session are never changed"),
  },
};

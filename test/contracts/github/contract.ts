import { cannot, degraded, type Contract } from "../expectation.ts";

export const githubContract: Contract = {
  title: "GitHub",
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
    "say-unknown": degraded("impossible", "only after somebody has written to the bot there"),
  },
};

/** Threads at the lines of pull requests, played by an App. The other suite plays an account with a token. */
export const githubReviewsContract: Contract = {
  title: "GitHub reviews",
  expected: githubContract.expected,
};

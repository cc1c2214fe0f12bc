import fc from "fast-check";
import { expect, it } from "vitest";
import {
  chosenConversation,
  isThreadConversation,
  threadConversationName,
} from "../../../src/messengers/declare/conversation-name.ts";

it("gives different threads different names, whatever they are called (I11)", () => {
  const pair = fc.tuple(fc.string(), fc.string());
  fc.assert(
    fc.property(pair, pair, ([messenger, thread], [otherMessenger, otherThread]) => {
      const isSame = messenger === otherMessenger && thread === otherThread;
      expect(
        threadConversationName(messenger, thread) === threadConversationName(otherMessenger, otherThread),
      ).toBe(isSame);
    }),
  );
});

it("gives a thread with a very long id a name that an object can have, and no other thread the same", () => {
  const long = `mail:<${"a".repeat(998)}@example.com>`;
  const name = threadConversationName("mail", long);
  expect(name.length).toBeLessThanOrEqual(900);
  expect(isThreadConversation(`default/${name}`)).toBe(true);
  expect(threadConversationName("mail", long)).toBe(name);
  expect(threadConversationName("mail", `${long}b`)).not.toBe(name);
  expect(threadConversationName("mail", name.slice("thread:mail:".length))).not.toBe(name);
});

it("keeps chosen names apart from those of threads, and both free of the root's separator", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 50, unit: "grapheme-ascii" }),
      fc.string(),
      (name, thread) => {
        const { conversation: chosen } = chosenConversation({ target: "subagent", name });
        expect(chosen).not.toBe(threadConversationName("telegram", thread));
        expect(chosen).not.toContain("/");
        expect(threadConversationName("telegram", thread)).not.toContain("/");
      },
    ),
  );
});

it.each([
  ["an empty name", ""],
  ["a name that is too long", "x".repeat(513)],
  ["a name that is too long for an object's", "\u044f".repeat(150)],
  ["half a character", "a\ud800"],
  ["control characters", "a\nb"],
])("refuses %s", (_what, name) => {
  expect(() => chosenConversation({ target: "subagent", name })).toThrow(
    expect.objectContaining({ code: "conversation-name-invalid" }),
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import type { MessengerAuthor, MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { TurnInfo } from "../../../src/core/turn/turn-info.ts";
import { inTurnContext } from "../../../src/core/turn/turn-context.ts";
import { MemoryPlaces } from "../../../src/memory/memory-places.ts";

type Author = MessengerAuthor | undefined;

/** A turn whose messages have these authors. */
function turnOf(authors: readonly Author[], kind: TurnInfo["kind"] = "messages", isDirectMessage = true) {
  const events = authors.map(
    (author, index) =>
      ({
        messengerId: "fake",
        ...(author && { author }),
        message: { id: String(index), text: `words ${index}` },
      }) as unknown as MessengerEvent,
  );
  const known = new Map(authors.flatMap((author) => (author ? [[author.userId, author] as const] : [])));
  const event = events.at(-1);
  const address = { messengerId: "fake", chatId: "c", threadId: "fake:c", isDirectMessage };
  const turn: TurnInfo = {
    id: "turn",
    kind,
    authors: kind === "messages" ? [...known.values()] : [],
    answerTo: [address],
    ...(kind === "messages" && event !== undefined && { event }),
  };
  const places = new MemoryPlaces({
    thread: { own: { info: () => turn }, messagesOf: () => events },
  } as never);
  return { turn, places };
}

const call = {
  requestId: "turn",
  person: { userId: "1" },
  people: [{ userId: "1" }],
  client: { kind: "chat", messengerId: "fake" },
};
const author = fc.record({
  userId: fc.constantFrom("1", "2", "3"),
  isChat: fc.constantFrom(undefined, true),
});

it("lets a turn write and read about a person only if all its messages are of that person", () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(author, { nil: undefined }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom("messages" as const, "prompt" as const, "outcome" as const),
      (authors, kind) => {
        const { places, turn } = turnOf(authors, kind);
        const writer = places.writer(call);
        const reader = inTurnContext(turn, undefined, () => places.reader());
        const people = new Set(authors.map((one) => one?.userId));
        const last = authors.findLast((one) => one !== undefined);
        const isOne = kind === "messages" && people.size === 1 && last !== undefined && last.isChat !== true;
        const person = { messenger: "fake", userId: last?.userId };
        if (isOne) expect(writer).toEqual(person);
        else expect(["several", "nobody"]).toContain(writer);
        expect(reader?.person).toEqual(isOne ? person : undefined);
      },
    ),
  );
});

it("answers that several people are in a turn", () => {
  const { places } = turnOf([{ userId: "1" }, { userId: "2" }]);
  expect(places.writer(call)).toBe("several");
});

it("keeps something for a call whose turn is forgotten only if the call runs for one person", () => {
  const places = new MemoryPlaces({ thread: { own: { info: () => undefined } } } as never);
  expect(places.writer(call)).toEqual({ messenger: "fake", userId: "1" });
  expect(places.writer({ ...call, people: [...call.people, { userId: "2" }] })).toBe("several");
});

it("tells a private answer from one that a group reads", () => {
  for (const isDirect of [true, false]) {
    const { places, turn } = turnOf([{ userId: "1" }], "messages", isDirect);
    expect(inTurnContext(turn, undefined, () => places.reader())?.isPrivate).toBe(isDirect);
  }
});

import { expect, it } from "vitest";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import { gateWith } from "../../support/chat-gates.ts";
import { probed, TEXT } from "./probed-harness.ts";
import type { Probed } from "./probed-harness.ts";

/** A gate that does something else first when it is asked what is left of a search after its first id. */
function searchedOnce(
  probes: () => readonly unknown[],
  first: () => void | Promise<never>,
): (real: ChatGate) => ChatGate {
  return (real) => {
    let isDone = false;
    return gateWith(real, {
      unclaimed: async (question) => {
        // The look, and the first id of the search.
        const isEnd = !isDone && probes().length === 2;
        isDone ||= isEnd;
        if (isEnd) await first();
        return real.unclaimed(question);
      },
    });
  };
}

/** The first look fails, and the lost message is the second of the ids. */
function searchTwoIds(first: () => void | Promise<never>): Probed {
  const found: Probed = probed({ gate: searchedOnce(() => found.probes(), first) });
  found.surface.numberForOther();
  found.surface.fault("post", { kind: "lose", done: true });
  return found;
}

it("finishes a search although the gate could not be reached in the middle of it", async () => {
  let isDown = false;
  const { delivery, start, visible, advance, probes } = searchTwoIds(() => {
    isDown = true;
    return Promise.reject(new Error("down"));
  });
  delivery.send(start("r1"), TEXT);
  delivery.send(start("r2"), "Next.");
  await advance(60_000);
  expect(isDown).toBe(true);
  expect(probes()).toEqual(["101", "101", "102"]);
  expect(visible()).toEqual([TEXT, "Next."]);
});

it("finishes a search when another reply takes the message over at that moment", async () => {
  const { delivery, start, visible, advance } = searchTwoIds(() => {
    delivery.withdraw("r1");
    delivery.open(start("r2", { takesOver: "r1" }));
    delivery.finish("r2", "Another text.");
  });
  delivery.open(start("r1"));
  delivery.append("r1", TEXT);
  await advance(60_000);
  expect(visible()).toEqual(["Another text."]);
  expect(delivery.receipt("r2")?.state).toBe("delivered");
});

it("finishes a search in a reply whose other message was left unresolved", async () => {
  const { surface, delivery, start, visible, advance } = probed({
    surface: { limits: { maxLength: 100, maxEntities: 100 } },
    policy: { onUnknown: "leave", callTimeoutMs: 15_000 },
  });
  const lost = { kind: "lose", done: false } as const;
  surface.fault("post", lost, lost);
  // Nothing is known of the chat yet, so that the first message cannot be looked for.
  delivery.send(
    start("r1", { seenMessageId: undefined }),
    "One two three four five six seven eight.\n\nNine ten eleven twelve thirteen fourteen.",
  );
  await advance(200);
  delivery.send(start("r2"), "Next.");
  await advance(60_000);
  expect(visible()).toEqual(["Nine ten eleven twelve thirteen fourteen.", "Next."]);
  expect(delivery.receipt("r1")?.state).toBe("failed");
});

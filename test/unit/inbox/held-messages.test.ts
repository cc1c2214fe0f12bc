import { describe, expect, it } from "vitest";
import type { MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { createIntakeRig, runToTheEnd } from "./intake-rig.ts";

describe("a message about which nothing can be decided yet", () => {
  const decidedLater = (definition: Partial<MessengerDefinition> = {}) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isDecided = false;
    const rig = createIntakeRig({
      definition,
      taken: () => (isDecided ? undefined : { until: promise }),
    });
    const decide = async (): Promise<void> => {
      isDecided = true;
      resolve();
      // The conversation may look again at any moment from now on.
      for (let moment = 0; moment < 40; moment += 1) {
        void rig.intake.run();
        await Promise.resolve();
      }
      await runToTheEnd(rig);
    };
    return { rig, decide };
  };

  it("never reaches the model if its author deletes it", async () => {
    const { decide, rig } = decidedLater();
    rig.receive("regretted", { message: { id: "r" } });
    rig.receive("meant", { message: { id: "m" } });
    await rig.intake.run();
    rig.receive("", { kind: "message-deleted", message: { id: "r" } });
    await rig.intake.run();
    await decide();
    expect(rig.waiting()).toEqual(["meant"]);
    expect(rig.outcomes()).toEqual([
      "withdrawn by its author",
      "deletion applied to the waiting message",
      "queued",
    ]);
    expect(rig.inbox.inState("received")).toEqual([]);
  });

  it.each([
    ["message-deleted", ["slow"]],
    ["message-edited", ["right", "slow"]],
  ] as const)(
    "is decided before its %s, which comes while another event is looked at",
    async (kind, waiting) => {
      const { promise: slow, resolve: admit } = Promise.withResolvers<boolean>();
      const allow: MessengerDefinition["allow"] = (_, { message }) => message?.text !== "slow" || slow;
      const { decide, rig } = decidedLater({ allow });
      rig.receive("wrong", { message: { id: "w" } });
      await rig.intake.run();
      rig.receive("slow", { message: { id: "s" } });
      const round = rig.intake.run();
      rig.receive("right", { kind, message: { id: "w" } });
      const decided = decide();
      for (let moment = 0; moment < 40; moment += 1) await Promise.resolve();
      admit(true);
      await Promise.all([round, decided]);
      expect(rig.waiting()).toEqual(waiting);
      expect(rig.inbox.inState("received")).toEqual([]);
    },
  );

  it("has one end if it is deleted twice", async () => {
    const { decide, rig } = decidedLater();
    rig.receive("regretted", { message: { id: "r" } });
    await rig.intake.run();
    rig.receive("", { kind: "message-deleted", message: { id: "r" } });
    rig.receive("", { kind: "message-deleted", message: { id: "r" } });
    await rig.intake.run();
    await decide();
    expect(rig.outcomes()).toEqual([
      "withdrawn by its author",
      "deletion applied to the waiting message",
      "deletion recorded",
    ]);
    expect(rig.waiting()).toEqual([]);
  });

  it("stays deleted after a crash, also if the deletion was not looked at before", async () => {
    for (const isLookedAt of [true, false]) {
      const { rig } = decidedLater();
      rig.receive("regretted", { message: { id: "r" } });
      await rig.intake.run();
      rig.receive("", { kind: "message-deleted", message: { id: "r" } });
      if (isLookedAt) await rig.intake.run();
      const restarted = rig.restart();
      await runToTheEnd(restarted);
      expect(restarted.inbox.inState("received")).toEqual([]);
      expect(restarted.waiting()).toEqual([]);
    }
  });

  it("is answered as its author has edited it, and not as it was", async () => {
    const { decide, rig } = decidedLater();
    rig.receive("wrong", { message: { id: "w" } });
    await rig.intake.run();
    rig.receive("right", { kind: "message-edited", message: { id: "w" } });
    await rig.intake.run();
    await decide();
    expect(rig.waiting()).toEqual(["right"]);
    expect(rig.outcomes()).toEqual(["queued", "edit applied to the waiting message"]);
  });

  it("keeps its place in an album, with the files of an edit", async () => {
    const { decide, rig } = decidedLater();
    const attachments = (id: string) => [{ kind: "image" as const, reference: { id } }];
    for (const id of ["a", "b", "c"])
      rig.receive("words", { message: { id, albumId: "album", attachments: attachments(id) } });
    await rig.intake.run();
    rig.receive("", { kind: "message-deleted", message: { id: "b" } });
    rig.receive("other words", {
      kind: "message-edited",
      message: { id: "a", attachments: attachments("z") },
    });
    await rig.intake.run();
    await decide();
    expect(rig.inbox.inState("queued").map(({ event }) => event?.message)).toMatchObject([
      { id: "a", albumId: "album", text: "other words", attachments: attachments("z") },
      { id: "c", albumId: "album", text: "words", attachments: attachments("c") },
    ]);
  });

  it("is another one if it has the same id in another chat (I11)", async () => {
    const { decide, rig } = decidedLater();
    rig.receive("mine", { message: { id: "same" } });
    await rig.intake.run();
    const thread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
    rig.receive("", { kind: "message-deleted", thread, message: { id: "same" } });
    rig.receive("yours", { kind: "message-edited", thread, message: { id: "same" } });
    await rig.intake.run();
    await decide();
    expect(rig.waiting()).toEqual(["mine"]);
  });
});

describe("a message that cannot be read yet", () => {
  it.each([
    ["message-deleted", []],
    ["message-edited", ["right"]],
  ] as const)("is decided before its %s", async (kind, waiting) => {
    let isReachable = false;
    const beforeParse = ({ message }: MessengerEvent): void => {
      if (!isReachable && message?.text === "wrong") throw new Error("not reachable");
    };
    for (const isRestarted of [false, true]) {
      isReachable = false;
      const first = createIntakeRig({ beforeParse });
      first.receive("wrong", { message: { id: "w" } });
      await first.intake.run();
      first.receive("right", { kind, message: { id: "w" } });
      first.receive("other", { message: { id: "o" } });
      await first.intake.run();
      expect(first.waiting()).toEqual(["other"]);
      expect(first.intake.hasUnread()).toBe(false);
      const rig = isRestarted ? first.restart() : first;
      await rig.intake.run();
      isReachable = true;
      await runToTheEnd(rig);
      expect(rig.waiting()).toEqual([...waiting, "other"]);
      expect(rig.inbox.inState("received")).toEqual([]);
    }
  });

  it("keeps no change of another message waiting once it is given up", async () => {
    const rig = createIntakeRig({
      beforeParse: ({ message }) => {
        if (message?.text === "unreadable") throw new Error("never readable");
      },
    });
    rig.receive("unreadable");
    await rig.intake.run();
    rig.receive("", { kind: "message-deleted", message: { id: "answered" } });
    await runToTheEnd(rig);
    expect(rig.outcomes().at(-1)).toBe("deletion recorded");
    expect(rig.intake.hasOpen()).toBe(false);
  });
});

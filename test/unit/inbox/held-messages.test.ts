import { describe, expect, it } from "vitest";
import { createIntakeRig, runToTheEnd } from "./intake-rig.ts";

describe("a message about which nothing can be decided yet", () => {
  const decidedLater = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isDecided = false;
    const rig = createIntakeRig({ taken: () => (isDecided ? undefined : { until: promise }) });
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

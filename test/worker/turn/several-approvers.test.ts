import { beforeEach, describe, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { createRefundBot, found, more, shown, told } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const as = (user: string) => ({ ...GROUP, user });

describe("an action that several people must approve", () => {
  it("runs when the last of them agrees; the card counts, and everybody can undo the own approval", async () => {
    const { effects, runs, world } = createRefundBot({
      approvers: ["ada", "bob", "cy"],
      requesterMayApprove: false,
      quorum: 2,
      grantable: true,
    });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Approved by: 0 of 2", "g1");
    expect(await world.press("g1", "Approve", GROUP)).toBe(
      "You can't decide this. It's up to people whom this bot's team has chosen, but not ada.",
    );
    expect(await world.press("g1", "Approve", as("bob"))).toBe("Noted: 1 of 2 have approved.");
    await shown(world, "Approved by: 1 of 2: bob", "g1");
    expect(await world.press("g1", "Approve", as("bob"))).toBe("Noted: 1 of 2 have approved.");
    await more(world, "g1", as("bob"));
    // Nobody agrees to more than this call alone.
    expect(world.chats.button("g1", "Allow always")).toBeUndefined();
    expect(await world.press("g1", "Undo my approval", as("cy"))).toBe("You haven't approved this.");
    expect(await world.press("g1", "Undo my approval", as("bob"))).toBe("Your approval is undone.");
    await shown(world, "Approved by: 0 of 2", "g1");
    expect(await world.press("g1", "Approve", as("cy"))).toBe("Noted: 1 of 2 have approved.");
    await shown(world, "Approved by: 1 of 2: cy", "g1");
    expect(effects).toEqual([]);
    // A written word counts as a press does.
    const { id: quotes } = found(world, "Refund order 7?", "g1");
    await world.write("g1", "yes", { ...as("bob"), quotes });
    await shown(world, "Told: Approved by cy, bob.", "g1");
    expect(effects).toEqual(["7"]);
    expect(runs[0]?.approver).toMatchObject({ userId: "bob" });
    const [record] = await world.thread("g1").approvals.list();
    expect(record).toMatchObject({
      quorum: 2,
      agreed: [{ person: { userId: "cy" } }, { person: { userId: "bob" } }],
    });
  });

  it("ends when one of them rejects", async () => {
    const { effects, world } = createRefundBot({ approvers: "anyone", quorum: 3 });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Approved by: 0 of 3", "g1");
    await world.press("g1", "Approve", as("bob"));
    expect(await world.press("g1", "Reject", as("cy"))).toBe("Rejected.");
    await shown(world, "Told: Rejected by cy", "g1");
    expect(effects).toEqual([]);
  });

  it("asks nobody if there are too few", async () => {
    const { world } = createRefundBot({ approvers: "anyone", quorum: 2 });
    await world.write("c1", "Refund 7");
    await shown(world, "Not done: nobody may decide about this");
    expect(told(world)).toEqual([]);
  });
});

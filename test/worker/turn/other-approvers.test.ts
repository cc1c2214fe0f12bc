import { beforeEach, describe, expect, it } from "vitest";
import { roles } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, more, shown, told } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const as = (user: string) => ({ ...GROUP, user });

const rolesOf = roles({ boss: ["ada", "bob", "cy", "dan"] }, { bob: "Bob", cy: "Cy" });

describe("handing a decision over", () => {
  it("asks another approver in the private chat, and all cards say so; nobody loses the right", async () => {
    const { effects, world } = createRefundBot(
      { approvers: { role: "boss" }, requesterMayApprove: false },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: rolesOf(person),
          people: rolesOf.people,
        }),
      },
    );
    await world.write("cy", "Hello", { user: "cy" });
    await shown(world, "Hm?", "cy");
    await world.write("g1", "Refund 7", GROUP);
    await more(world, "g1", as("bob"));
    expect(await world.press("g1", "Hand over …", as("bob"))).toBeUndefined();
    // The person who asks may not decide, so nobody hands it to Ada.
    await expect.poll(() => world.chats.button("g1", "To Cy")).toBeDefined();
    expect(world.chats.button("g1", "To ada")).toBeUndefined();
    expect(await world.press("g1", "To Cy", as("eve"))).toContain("You can't decide this.");
    expect(await world.press("g1", "To Cy", as("bob"))).toBe("I've asked Cy to decide.");
    await shown(world, "Handed over: to Cy, by bob", "g1");
    await shown(world, "Handed over: to Cy, by bob", "cy");
    await shown(world, "bob asks you to decide this: Refund order 7.", "cy");
    // Dan has never written to the bot.
    await more(world, "g1", as("bob"));
    await world.press("g1", "Hand over …", as("bob"));
    expect(await world.press("g1", "To dan", as("bob"))).toContain("dan has never written to me.");
    await asked(world, "cy");
    expect(await world.press("cy", "Approve", { user: "cy" })).toBe("Approved.");
    await shown(world, "Told: Approved by cy.", "g1");
    expect(effects).toEqual(["7"]);
    expect(told(world, "cy")).toEqual([]);
  });
});

describe("escalation", () => {
  it("asks deputies after a time, and they may decide only then", async () => {
    const options = { approvers: ["bob"], requesterMayApprove: false, escalateTo: ["cy"] };
    const later = createRefundBot({ ...options, escalateAfterMs: 60 * 60 * 1000 });
    await later.world.write("g1", "Refund 7", GROUP);
    await asked(later.world, "g1");
    expect(await later.world.press("g1", "Approve", as("cy"))).toContain("You can't decide this.");

    const { effects, world } = createRefundBot({ ...options, escalateAfterMs: 400 });
    await world.write("cy", "Hello", { user: "cy" });
    await shown(world, "Hm?", "cy");
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Also asked: cy", "g1");
    await asked(world, "cy");
    expect(await world.press("cy", "Approve", { user: "cy" })).toBe("Approved.");
    await shown(world, "Told: Approved by cy.", "g1");
    expect(effects).toEqual(["7"]);
  });

  it("asks deputies at once if nobody else can be reached", async () => {
    const { effects, world } = createRefundBot({
      approvers: ["bob"],
      askIn: "approver-dm",
      escalateTo: ["cy", "ada"],
      requesterMayApprove: false,
    });
    await world.write("cy", "Hello", { user: "cy" });
    await shown(world, "Hm?", "cy");
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "bob has never written to me.", "g1");
    await shown(world, "Also asked: cy, ada", "g1");
    // The person who asks is a deputy, too, and may not decide all the same.
    expect(await world.press("g1", "Approve", GROUP)).toContain("You can't decide this.");
    await asked(world, "cy");
    await world.press("cy", "Approve", { user: "cy" });
    await shown(world, "Told: Approved by cy.", "g1");
    expect(effects).toEqual(["7"]);
  });

  it("asks deputies at once if nobody else may decide", async () => {
    const { effects, world } = createRefundBot(
      { approvers: { role: "nobody" }, escalateTo: { role: "boss" } },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: rolesOf(person),
          people: rolesOf.people,
        }),
      },
    );
    await world.write("cy", "Hello", { user: "cy" });
    await shown(world, "Hm?", "cy");
    await world.write("g1", "Refund 7", { ...GROUP, user: "eve" });
    await asked(world, "cy");
    expect(await world.press("cy", "Approve", { user: "cy" })).toBe("Approved.");
    await shown(world, "Told: Approved by cy.", "g1");
    expect(effects).toEqual(["7"]);
  });
});

import { beforeEach, describe, expect, it, vi } from "vitest";
import { roles } from "../../../src/index.ts";
import type { IndexedApproval } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, more, shown } from "../support/refund-bot.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const bob = { user: "bob" } as const;
const NOTHING = "Nothing waits for your decision, and nothing that you asked for.";

/** Resolves when the root knows this many waiting requests. */
async function indexed(world: World, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const { length } = (await world.stub.pendingApprovals()) as unknown as IndexedApproval[];
    if (length !== count) throw new Error(`The root knows ${length} requests`);
  }, 8000);
}

describe("/approvals in a private chat", () => {
  it("lists what waits for me and what I asked for in all chats, and says where its card is", async () => {
    const { world } = createRefundBot({ approvers: ["bob"] });
    await world.write("g1", "Refund 7", { ...GROUP, title: "Billing team" });
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    await shown(world, "Waiting for your decision", "bob");
    await shown(world, "1. Refund order 7 – asked by ada in “Billing team”, until", "bob");
    await world.write("c1", "/approvals");
    await shown(world, "You asked for");
    await shown(world, "1. Refund order 7 – up to people whom this bot's team has chosen in “Billing team”");
    expect(await world.press("c1", "Show 1")).toBe("Its card is in “Billing team”.");
    await world.write("eve", "/approvals", { user: "eve" });
    await shown(world, NOTHING, "eve");
    await world.press("g1", "Reject", { ...GROUP, ...bob });
    expect(await world.press("bob", "Show 1", bob)).toBe("This is decided by now.");
    await indexed(world, 0);
    await world.write("bob", "/approvals", bob);
    await shown(world, NOTHING, "bob");
  });

  it("names the person who asked in a private chat once, and times in the zone of the bot", async () => {
    const defaultTimezone = "Asia/Tokyo";
    const { world } = createRefundBot({ approvers: ["bob"] }, { defaultTimezone });
    await world.write("c1", "Refund 7", { title: "Ada" });
    await shown(world, "Not reached: Person bob has never written to me.");
    await more(world);
    expect(found(world, "Refund order 7?").texts.at(-1)).toMatch(
      /Until: \w{3} [\d-]{10} [\d:]{5} \(Asia\/Tokyo\)/,
    );
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    await shown(world, "1. Refund order 7 – asked by ada, until", "bob");
    expect(found(world, "1. Refund order 7", "bob").texts.at(-1)).toContain("(Asia/Tokyo)");
    expect(await world.press("bob", "Show 1", bob)).toBe("Here it is.");
  });

  it("brings the card to somebody who may decide, and keeps it true everywhere", async () => {
    const { effects, runs, world } = createRefundBot({ approvers: ["bob"] });
    await world.write("g1", "Refund 7", { ...GROUP, title: "Billing team" });
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    expect(await world.press("bob", "Show 1", bob)).toBe("Here it is.");
    await asked(world, "bob");
    expect(found(world, "Refund order 7", "bob").buttons.map(({ label }) => label)).toEqual([
      "Approve",
      "Reject",
      "More",
    ]);
    await world.press("bob", "Show 1", bob);
    await shown(world, "Here it is.", "bob");
    expect(world.chats.visible("bob").filter((text) => text.startsWith("Refund order 7?"))).toHaveLength(1);
    expect(found(world, "Refund order 7?", "g1").buttons).toHaveLength(3);
    expect(await world.press("bob", "Approve", bob)).toBe("Approved.");
    await shown(world, "Told: Approved by bob", "g1");
    await shown(world, "Done", "g1");
    await shown(world, "Done", "bob");
    expect(effects).toEqual(["7"]);
    expect(runs[0]).toMatchObject({ person: { userId: "ada" }, approver: { userId: "bob" } });
  });

  it("brings the card to nobody who may not decide by now, and leaves a decided one where it is", async () => {
    const rolesOf = { bob: ["refunds"] } as Record<string, readonly string[]>;
    const { world } = createRefundBot(
      { permissions: ["refunds"], approvers: { role: "refunds" } },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: ["refunds"].filter((one) => rolesOf[person?.userId ?? ""]?.includes(one)),
        }),
        authorizeAction: () => true,
      },
    );
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    await shown(world, "1. Refund order 7", "bob");
    rolesOf["bob"] = [];
    expect(await world.press("bob", "Show 1", bob)).toBe("This is decided by now.");
    expect(world.chats.visible("bob").filter((text) => text.startsWith("Refund order 7?"))).toEqual([]);
  });

  it("shows the card again in a group that has moved to another id", async () => {
    const { effects, world } = createRefundBot({ approvers: "anyone" });
    await world.write("old", "Refund 7", GROUP);
    await asked(world, "old");
    world.chats.moved.set("old", "new");
    await world.post({ kind: "moved", id: "s1", chat: "old", user: "ada", isGroup: true, movedTo: "new" });
    await world.write("new", "/approvals", GROUP);
    await shown(world, "Waiting for your decision", "new");
    await world.press("new", "Show 1", GROUP);
    await asked(world, "new");
    await world.press("new", "Approve", GROUP);
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
    await shown(world, "Done", "new");
    expect(world.chats.visible("new").filter((text) => text.includes("Refund order 7"))).toHaveLength(2);
  });

  it("points at the card of another conversation that is in this chat", async () => {
    const { effects, world } = createRefundBot({ approvers: ["bob"], askIn: "approver-dm" });
    await world.write("bob", "Hello", bob);
    await world.write("g1", "Refund 7", GROUP);
    const card = await asked(world, "bob");
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    await shown(world, "1. Refund order 7 – asked by ada", "bob");
    await world.press("bob", "Show 1", bob);
    await shown(world, "Here it is.", "bob");
    expect(found(world, "Here it is.", "bob").replyTo).toBe(card);
    expect(effects).toEqual([]);
  });

  it("shows consent of anyone in a chat to nobody outside of it", async () => {
    const { world } = createRefundBot({ approvers: "anyone" });
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("eve", "/approvals", { user: "eve" });
    await shown(world, NOTHING, "eve");
    await world.write("g1", "/approvals", { ...GROUP, user: "eve" });
    await shown(world, "1. Refund order 7 – asked by ada", "g1");
    expect(world.chats.visible("eve")).toEqual([NOTHING]);
  });

  it("shows nothing because of a permission that belongs to the chat and not to the person", async () => {
    const { world } = createRefundBot(
      { permissions: ["refunds"] },
      {
        authorizeTurn: ({ chat }) =>
          chat?.id.includes("g1") === true ? { allowed: true, grantedPermissions: ["refunds"] } : true,
      },
    );
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("eve", "/approvals", { user: "eve" });
    await shown(world, NOTHING, "eve");
    expect(world.chats.visible("eve")).toEqual([NOTHING]);
  });

  it("finds people by their role, and by a function of the action", async () => {
    const rolesOf = roles({ refunds: ["ada", "bob"] });
    const { world } = createRefundBot(
      { permissions: ["refunds"] },
      { authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: rolesOf(person) }) },
    );
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    await indexed(world, 1);
    await world.write("bob", "/approvals", bob);
    await shown(world, "1. Refund order 7 – asked by ada", "bob");
    const other = createRefundBot({ approvers: ({ userId }) => userId === "bob" }).world;
    await other.write("g1", "Refund 8", GROUP);
    await asked(other, "g1");
    await indexed(other, 1);
    await other.write("bob", "/approvals", bob);
    await shown(other, "1. Refund order 8 – asked by ada", "bob");
    expect(world.chats.visible("bob")).toHaveLength(1);
  });
});

describe("/approvals in a group", () => {
  it("shows only what was asked there, or asks people there", async () => {
    const { world } = createRefundBot({
      approvers: ["bob"],
      askIn: { messenger: "fake", chatId: "team" },
    });
    await world.write("team", "Hello", { ...GROUP, ...bob });
    await world.write("c1", "Refund 7");
    await asked(world, "team");
    await indexed(world, 1);
    await world.write("g2", "/approvals", { ...GROUP, ...bob });
    await shown(world, "Nothing that was asked in this chat waits for your decision", "g2");
    await world.write("team", "/approvals", { ...GROUP, ...bob });
    await shown(world, "1. Refund order 7 – asked by ada", "team");
    await world.press("team", "Show 1", { ...GROUP, ...bob });
    await shown(world, "Here it is.", "team");
    expect(world.chats.visible("g2").join("")).not.toContain("Refund order");
  });

  it("shows nothing of other chats that share the conversation", async () => {
    const { world } = createRefundBot({}, { messenger: { conversation: "self" } });
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("g1", "/approvals", GROUP);
    await shown(world, "Nothing that was asked in this chat waits for your decision", "g1");
    await world.write("c2", "/approvals", { user: "eve" });
    await shown(world, NOTHING, "c2");
    expect(world.chats.visible("g1").join("")).not.toContain("Refund order");
  });
});

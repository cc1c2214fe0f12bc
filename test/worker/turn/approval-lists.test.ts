import { beforeEach, describe, expect, it, vi } from "vitest";
import { roles } from "../../../src/index.ts";
import type { IndexedApproval } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, shown } from "../support/refund-bot.ts";
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
    expect(await world.press("bob", "Show 1", bob)).toBe("Its card is in “Billing team”.");
    await world.write("c1", "/approvals");
    await shown(world, "You asked for");
    await shown(world, "1. Refund order 7 – up to people whom this bot's team has chosen in “Billing team”");
    await world.write("eve", "/approvals", { user: "eve" });
    await shown(world, NOTHING, "eve");
    await world.press("g1", "Reject", { ...GROUP, ...bob });
    expect(await world.press("bob", "Show 1", bob)).toBe("This is decided by now.");
    await indexed(world, 0);
    await world.write("bob", "/approvals", bob);
    await shown(world, NOTHING, "bob");
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

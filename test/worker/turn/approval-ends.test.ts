import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ThinkMessengers } from "../../../src/core/chat/messenger.ts";
import { roles } from "../../../src/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, refundAction, refundScript, shown, told } from "../support/refund-bot.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** Ends the process of a conversation, as a new version of the bot does. */
async function restart(world: World, chat = "c1"): Promise<void> {
  await runInDurableObject(world.thread(chat), async (_bot, state) => {
    await state.storage.sync();
    state.abort("killed by a test");
  }).catch(() => undefined);
}

async function stateOf(world: World): Promise<unknown> {
  return (await world.thread("c1").approvals.list())[0];
}

describe("a request that can never run any more", () => {
  it("ends when the new version of the bot lacks its action, and the chat is told", async () => {
    let actions: ThinkActions = { refund: refundAction().refund };
    const world = createWorld({ script: refundScript, getActions: () => actions });
    await world.write("c1", "Refund 7");
    await asked(world);
    actions = {};
    await restart(world);
    await world.write("c1", "Hello?");
    await shown(world, "Told: It can no longer run: the bot no longer has this action.");
    await shown(world, "No longer possible");
    expect(await stateOf(world)).toMatchObject({ state: "void", reason: "action-removed" });
    expect(world.chats.messages("c1").flatMap(({ buttons }) => buttons)).toEqual([]);
  });

  it("says why to the person whose press is the first thing that the new version sees", async () => {
    let actions: ThinkActions = { refund: refundAction().refund };
    const world = createWorld({ script: refundScript, getActions: () => actions });
    await world.write("c1", "Refund 7");
    await asked(world);
    actions = {};
    await restart(world);
    expect(await world.press("c1", "Approve")).toBe(
      "This can no longer be done: the bot no longer has this action.",
    );
  });

  it("ends when the new version does not serve its messenger, and only the conversation is told", async () => {
    let isServed = true;
    const { refund } = refundAction();
    const world = createWorld({
      script: refundScript,
      getActions: () => ({ refund }),
      messengers: (own): ThinkMessengers => (isServed ? { fake: own.messenger() } : {}),
    });
    await world.write("c1", "Refund 7");
    await asked(world);
    isServed = false;
    await restart(world);
    await world.thread("c1").submitMessages("Hello?");
    await vi.waitFor(async () => {
      expect(await stateOf(world)).toMatchObject({ state: "void", reason: "messenger-undeclared" });
    }, 8000);
    await vi.waitFor(() => {
      const said = world.requests.map((request) => request.said).join("\n");
      expect(said).toContain("the bot no longer serves the messenger");
    }, 8000);
    expect(told(world)).toEqual([]);
  });

  it("ends when its chat is gone", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    world.chats.gone.add("c1");
    await world.write("c1", "Hello?");
    await vi.waitFor(async () => {
      expect(await stateOf(world)).toMatchObject({ state: "void", reason: "chat-gone" });
    }, 8000);
    expect(await world.thread("c1").pendingApprovals()).toEqual([]);
    expect(effects).toEqual([]);
  });
});

describe("a request of a group that has moved to another id", () => {
  const GROUP = { isGroup: true, mentions: true } as const;

  async function move(world: World): Promise<void> {
    world.chats.moved.set("old", "new");
    await world.post({ kind: "moved", id: "s1", chat: "old", user: "ada", isGroup: true, movedTo: "new" });
    await world.write("new", "Hello", GROUP);
    await shown(world, "Hm?", "new");
  }

  it("ends when the group is gone", async () => {
    const { world } = createRefundBot();
    await world.write("old", "Refund 7", GROUP);
    await asked(world, "old");
    await move(world);
    world.chats.gone.add("new");
    await world.write("new", "Hello?", GROUP);
    await vi.waitFor(async () => {
      const [approval] = await world.thread("old").approvals.list();
      expect(approval).toMatchObject({ state: "void", reason: "chat-gone" });
    }, 8000);
  });
});

describe("a request about which nobody may decide any more", () => {
  const GROUP = { isGroup: true, mentions: true } as const;
  const bob = { ...GROUP, user: "bob" } as const;

  it("ends when somebody who has lost the permission tries, and the chat is told", async () => {
    const holders = { billing: ["bob"] };
    const { effects, world } = createRefundBot(
      { approvers: { role: "billing" } },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: roles(holders)(person),
          people: { holders },
        }),
      },
    );
    await world.write("c1", "Refund 7", GROUP);
    await asked(world);
    // A stranger's press changes nothing while somebody is left.
    expect(await world.press("c1", "Approve", { ...GROUP, user: "eve" })).toMatch(/^You can't decide this/);
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(1);
    holders.billing = [];
    expect(await world.press("c1", "Approve", bob)).toMatch(/^You can't decide this/);
    await shown(world, "Not done: nobody may decide about this");
    await shown(world, "Told: It can no longer run: it needs somebody's consent, and nobody may give it.");
    expect(await stateOf(world)).toMatchObject({ state: "void", reason: "approvers-missing" });
    expect(effects).toEqual([]);
  });

  it("ends with a new version of the bot that names nobody of the old list, who cannot decide any more", async () => {
    let approvers = ["bob", "carl"];
    const effects: string[] = [];
    const world = createWorld({
      script: refundScript,
      getActions: () => {
        const { refund } = refundAction({
          approvers,
          execute: ({ orderId }) => void effects.push(orderId),
        });
        return { refund };
      },
    });
    await world.write("c1", "Refund 7", GROUP);
    await asked(world);
    approvers = ["carl", "dora"];
    expect(await world.press("c1", "Approve", bob)).toMatch(/^You can't decide this/);
    expect(await world.press("c1", "Approve", { ...bob, user: "dora" })).toMatch(/^You can't decide this/);
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(1);
    approvers = ["dora"];
    await restart(world);
    await world.write("c1", "Hello?", GROUP);
    await shown(world, "Not done: nobody may decide about this");
    await shown(world, "Told: It can no longer run");
    expect(effects).toEqual([]);
  });

  it("waits on while the bot's code fails, which says nothing about people", async () => {
    let fails = false;
    const { effects, world } = createRefundBot(
      { approvers: { role: "billing" } },
      {
        authorizeTurn: ({ person }) => {
          if (fails) throw new Error("The directory is away.");
          const rolesOf = roles({ billing: ["bob"] });
          return { allowed: true, grantedPermissions: rolesOf(person), people: rolesOf.people };
        },
      },
    );
    await world.write("c1", "Refund 7", GROUP);
    await asked(world);
    fails = true;
    expect(await world.press("c1", "Approve", bob)).toMatch(/^You can't decide this/);
    fails = false;
    expect(await world.press("c1", "Approve", bob)).toBe("Approved.");
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });
});

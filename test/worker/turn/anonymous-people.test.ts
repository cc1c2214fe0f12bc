import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, more, shown } from "../support/refund-bot.ts";
import type { RefundBot, RefundOptions } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const ANONYMOUS = { ...GROUP, isAnonymous: true } as const;
const YOURSELF = "You write as g1, so I can't see who you are. Please press a button of the request";

/** Ada has asked in a group. */
async function waiting(options: RefundOptions, rest: Parameters<typeof createRefundBot>[1] = {}) {
  const bot = createRefundBot(options, rest);
  await bot.world.write("g1", "Refund 7", GROUP);
  return { ...bot, quotes: await asked(bot.world, "g1") };
}

async function expectDone({ effects, world }: RefundBot): Promise<void> {
  await shown(world, "Told: Approved", "g1");
  expect(effects).toEqual(["7"]);
}

describe("a yes that an anonymous administrator writes", () => {
  it.each<[string, RefundOptions, Parameters<typeof createRefundBot>[1], string]>([
    ["the person who asked", {}, {}, "ada"],
    ["people of a list", { approvers: ["carol"] }, {}, "carol"],
    [
      "people with a permission",
      { permissions: ["refunds"] },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: ["carol", "ada"].includes(person?.userId ?? "") ? ["refunds"] : [],
        }),
      },
      "carol",
    ],
    ["people whom the bot's code knows", { approvers: ({ userId }) => userId === "carol" }, {}, "carol"],
    ["anyone else than the person who asked", { approvers: "anyone", requesterMayApprove: false }, {}, "bob"],
    [
      "people of a list with the group, but not the person who asked",
      { approvers: ["g1", "carol"], requesterMayApprove: false },
      {},
      "carol",
    ],
  ])("does not decide for %s, and says what to do; the press does", async (_who, options, rest, user) => {
    const bot = await waiting(options, rest);
    const { effects, quotes, world } = bot;
    await world.write("g1", "yes", { ...ANONYMOUS, quotes });
    await shown(world, YOURSELF, "g1");
    expect(await world.stub.pendingApprovals()).toHaveLength(1);
    expect(effects).toEqual([]);
    expect(await world.press("g1", "Approve", { ...GROUP, user })).toBe("Approved.");
    await expectDone(bot);
  });

  it.each<[string, RefundOptions]>([
    ["anyone in the chat may decide", { approvers: "anyone" }],
    ["the group itself is one of those who may", { approvers: ["g1"] }],
  ])("decides if %s", async (_why, options) => {
    const bot = await waiting(options);
    await bot.world.write("g1", "yes", { ...ANONYMOUS, quotes: bot.quotes });
    await expectDone(bot);
  });

  it("decides about what was asked anonymously, and a press says how", async () => {
    const bot = createRefundBot();
    const { world } = bot;
    await world.write("g1", "Refund 7", ANONYMOUS);
    const quotes = await asked(world, "g1");
    const why = "g1 asked for this, and I can't see whether that was you. Please write yes or no as g1";
    expect(await world.press("g1", "Approve", GROUP)).toContain(why);
    await more(world, "g1", GROUP);
    expect(await world.press("g1", "Take back", GROUP)).toContain(why);
    await world.write("g1", "yes", { ...ANONYMOUS, quotes });
    await expectDone(bot);
  });
});

describe("a request of an anonymous administrator that somebody else must approve", () => {
  it.each<[string, RefundOptions]>([
    ["anyone", { approvers: "anyone" }],
    ["people of a list", { approvers: ["ada", "carol"] }],
    ["people whom the bot's code knows", { approvers: ({ userId }) => ["ada", "carol"].includes(userId) }],
  ])("asks nobody, because each of them may be the one who asks: %s", async (_who, options) => {
    const { effects, world } = createRefundBot({ ...options, requesterMayApprove: false });
    await world.write("g1", "Refund 7", ANONYMOUS);
    await shown(world, "Please ask again without being anonymous.", "g1");
    expect(found(world, "without being anonymous", "g1").buttons).toEqual([]);
    await vi.waitFor(
      async () =>
        expect(await world.stub.approvals.list()).toMatchObject([
          { state: "void", reason: "requester-anonymous" },
        ]),
      8000,
    );
    expect(effects).toEqual([]);
    // The same wish, from somebody whom the bot can see.
    await world.write("g1", "Refund 7", { ...GROUP, user: "ada" });
    await asked(world, "g1");
    expect(await world.press("g1", "Approve", GROUP)).toMatch(/You can't decide this/);
    expect(await world.press("g1", "Approve", { ...GROUP, user: "carol" })).toBe("Approved.");
    await shown(world, "Told: Approved", "g1");
  });
});

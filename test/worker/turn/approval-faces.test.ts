import { runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, more, shown, told } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const bob = { ...GROUP, user: "bob" } as const;

it("is turned by anybody who sees the card, which decides nothing, and turned back", async () => {
  const { effects, world } = createRefundBot({ grantable: true });
  await world.write("g1", "Refund 7", GROUP);
  const card = await asked(world, "g1");
  await more(world, "g1", bob);
  await shown(world, "You can also allow: Refund an order", "g1");
  expect(await world.press("g1", "Less", bob)).toBeUndefined();
  await vi.waitFor(() => expect(world.chats.button("g1", "More")).toBeDefined(), 8000);
  expect(found(world, "Refund order 7?", "g1").id).toBe(card);
  expect(found(world, "Refund order 7?", "g1").buttons).toHaveLength(3);
  expect(await world.thread("g1").pendingApprovals()).toHaveLength(1);
  expect(effects).toEqual([]);
  expect(told(world, "g1")).toEqual([]);
});

it("is decided by a button and by a word on either face", async () => {
  const { effects, world } = createRefundBot();
  await world.write("c1", "Refund 7");
  const quotes = await asked(world);
  await more(world);
  await world.write("c1", "yes", { quotes });
  await shown(world, "Told: Approved by ada");
  expect(effects).toEqual(["7"]);
  await world.write("c1", "Refund 8");
  await asked(world);
  await more(world);
  expect(await world.press("c1", "Approve")).toBe("Approved.");
  await vi.waitFor(() => expect(effects).toEqual(["7", "8"]), 8000);
});

it("says what was decided when somebody turns it too late", async () => {
  const { world } = createRefundBot();
  await world.write("c1", "Refund 7");
  await asked(world);
  const turn = world.chats.button("c1", "More") ?? "";
  await world.press("c1", "Reject");
  await shown(world, "Told: Rejected");
  expect(await world.pressToken("c1", turn)).toBe("This was decided before by ada: rejected.");
  expect(found(world, "Rejected").buttons).toEqual([]);
});

it("still takes the buttons of a card that an earlier version has posted", async () => {
  const { effects, world } = createRefundBot({ grantable: true });
  await world.write("c1", "Refund 7");
  await asked(world);
  const [key = "", name = ""] = (world.chats.button("c1", "Approve") ?? "").split(".").slice(1);
  await runInDurableObject(world.thread("c1"), (_bot, { storage }) => {
    const stored = storage.sql
      .exec<{ buttons: string }>("SELECT buttons FROM card_v1 WHERE card_key = ?", key)
      .one();
    type Button = { readonly button: string; readonly payload: object };
    const approve = (JSON.parse(stored.buttons) as Button[]).find(({ button }) => button === name);
    const old = { button: "old", label: "Yes, always", payload: { ...approve?.payload, grant: "always" } };
    storage.sql.exec("UPDATE card_v1 SET buttons = ? WHERE card_key = ?", JSON.stringify([old]), key);
  });
  expect(await world.pressToken("c1", `c1.${key}.old`)).toContain("Approved. I won't ask again for this");
  await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  await shown(world, "Also allowed always: Refund an order");
});

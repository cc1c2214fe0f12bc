import { beforeEach, describe, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, shown, told } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;

describe("/approvals", () => {
  it("lists what waits for me and what I asked for, and points at the cards", async () => {
    const { world } = createRefundBot({ approvers: ["bob"] });
    await world.write("g1", "Refund 7", GROUP);
    const card = await asked(world, "g1");
    await world.write("g1", "/approvals", { ...GROUP, user: "bob" });
    await shown(world, "Waiting for your decision", "g1");
    await shown(world, "1. Refund order 7 – asked by ada, until", "g1");
    await world.write("g1", "/approvals", GROUP);
    await shown(world, "You asked for", "g1");
    await shown(world, "1. Refund order 7 – up to people whom this bot's team has chosen, until", "g1");
    await world.press("g1", "Show 1", GROUP);
    await shown(world, "Here it is.", "g1");
    expect(found(world, "Here it is.", "g1").replyTo).toBe(card);
    await world.write("g1", "/approvals", { ...GROUP, user: "eve" });
    await shown(world, "Nothing that was asked in this chat waits for your decision", "g1");
  });

  it("says so when the request is decided by now, and decides nothing itself", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("c1", "/approvals");
    await shown(world, "Waiting for your decision");
    await world.press("c1", "Reject");
    await shown(world, "Told: Rejected");
    expect(await world.press("c1", "Show 1")).toBe("This is decided by now.");
    expect(effects).toEqual([]);
  });

  it("is known only to bots whose actions ask people", async () => {
    const { world } = createRefundBot({ approval: false });
    await world.write("c1", "/approvals");
    await shown(world, "Hm?");
    const asking = createRefundBot().world;
    await asking.write("c1", "/help");
    await shown(asking, "/approvals – Show what waits for a decision");
    expect(world.chats.visible("c1")).toEqual(["Hm?"]);
  });
});

describe("what waits", () => {
  it("survives /stop, which says so", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("c1", "/stop");
    await shown(world, "One request still waits for a decision. /stop takes no request back");
    await world.press("c1", "Approve");
    await shown(world, "Told: Approved");
    expect(effects).toEqual(["7"]);
  });

  it("survives /new, which says so; its outcome is told in the new session", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("c1", "/new");
    await shown(world, "One request still waits for a decision. I'll tell you here what comes of it.");
    await world.press("c1", "Approve");
    await shown(world, "Told: Approved");
    expect(effects).toEqual(["7"]);
    const prompt = JSON.stringify(world.requests.at(-1)?.prompt);
    expect(prompt).not.toContain("I'll ask.");
    expect(prompt).toContain("Action: refund");
    expect(told(world)).toHaveLength(1);
  });

  it("is known to the model, until it is decided", async () => {
    const { world } = createRefundBot({ sensitive: ["orderId"] });
    await world.write("c1", "Refund 76543");
    await asked(world);
    await world.write("c1", "Hello?");
    await shown(world, "Hm?");
    const system = JSON.stringify(world.requests.at(-1)?.prompt[0]);
    expect(system).toContain("One action waits for a person's decision.");
    expect(system).toContain(String.raw`- refund: \"Refund order •••\", asked by \"ada\"`);
    await world.press("c1", "Reject");
    await shown(world, "Told: Rejected");
    expect(JSON.stringify(world.requests.at(-1)?.prompt[0])).not.toContain("waits for a person");
  });
});

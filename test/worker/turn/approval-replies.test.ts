import { beforeEach, describe, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { asked, createRefundBot, found, shown, told } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true } as const;

describe("a reply to the card of an approval", () => {
  it.each([
    ["Yes!", "Approved.", "Approved by ada", ["7"]],
    ["Ja bitte", "Approved.", "Approved by ada", ["7"]],
    ["нет", "Rejected.", "Rejected by ada", []],
    ["No, that is too much", "Rejected.", 'Rejected by ada. Their words: "that is too much".', []],
  ])("decides like a press: %s", async (text, answer, outcome, done) => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await world.write("c1", text, { quotes: await asked(world) });
    await shown(world, `Told: ${outcome}`);
    expect(world.chats.visible("c1")).toContain(answer);
    expect(effects).toEqual(done);
    expect((await world.thread("c1").listApprovals())[0]?.decidedBy).toMatchObject({
      surface: "chat",
      person: { userId: "ada" },
      isTyped: true,
    });
  });

  it("is checked like a press, also in a group whose bot nobody mentions", async () => {
    const { effects, world } = createRefundBot();
    await world.write("g1", "Refund 7", { ...GROUP, mentions: true });
    const quotes = await asked(world, "g1");
    await world.write("g1", "yes", { ...GROUP, quotes, user: "bob" });
    await shown(world, "You can't decide this. It's up to ada.", "g1");
    await world.write("g1", "yes", { ...GROUP, quotes });
    await shown(world, "Told: Approved", "g1");
    await world.write("g1", "no", { ...GROUP, quotes });
    await shown(world, "This was decided before by ada: approved", "g1");
    expect(effects).toEqual(["7"]);
  });

  it("goes to the model if it is more than a decision", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await world.write("c1", "Yes, but refund 8", { quotes: await asked(world) });
    await shown(world, "Refund order 8");
    expect(effects).toEqual([]);
  });

  it("is the reason after Reject: the card and the model get it, once", async () => {
    const { world } = createRefundBot();
    await world.write("c1", "Refund 7");
    const quotes = await asked(world);
    await world.press("c1", "Reject");
    await shown(world, "Told: Rejected by ada. It did not run.");
    await world.write("c1", "Too much", { quotes });
    await shown(world, 'They say only now why. Their words: "Too much".');
    await shown(world, "Thanks, noted.");
    expect(found(world, "Refund order 7").texts.at(-1)).toContain("Why: Too much");
    await world.write("c1", "And another thing", { quotes });
    await shown(world, "Hm?");
    expect(told(world)).toHaveLength(2);
  });

  it("is the wish after Ask for changes: the model proposes again, and the old card says so", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    const quotes = await asked(world);
    await world.press("c1", "Ask for changes");
    await shown(world, "Told: Changes wanted by ada. It did not run. Ask what should change");
    world.script(({ prompt, said }) =>
      prompt.at(-1)?.role === "tool" || !said.includes("Call the action again with these changes")
        ? [say("OK.")]
        : [callTool("refund", { orderId: "8" })],
    );
    await world.write("c1", "Order 8, please", { quotes });
    await shown(world, "Refund order 8");
    await shown(world, "Replaced by a newer request");
    expect(found(world, "Replaced by a newer request").id).toBe(quotes);
    await world.press("c1", "Approve");
    await shown(world, "Done");
    expect(effects).toEqual(["8"]);
  });

  it("is no reason when somebody else writes it", async () => {
    const { world } = createRefundBot({ approvers: "anyone" });
    await world.write("g1", "Refund 7", { ...GROUP, mentions: true });
    const quotes = await asked(world, "g1");
    await world.press("g1", "Reject", GROUP);
    await shown(world, "Told: Rejected by ada", "g1");
    await world.write("g1", "I think so too", { ...GROUP, mentions: true, quotes, user: "bob" });
    await shown(world, "Hm?", "g1");
    expect((await world.thread("g1").listApprovals())[0]?.reason).toBeUndefined();
  });
});

describe("a yes that quotes nothing", () => {
  it("decides nothing, and the bot points at the buttons", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    const card = await asked(world);
    await world.write("c1", "Yes");
    await shown(world, "That alone decides nothing.");
    expect(found(world, "That alone decides nothing.").replyTo).toBe(card);
    expect(effects).toEqual([]);
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(1);
  });

  it("goes to the model once the bot has said something else", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("c1", "What's the weather?");
    await shown(world, "Hm?");
    await world.write("c1", "Yes");
    await world.shows("c1", "I'll ask.", found(world, "Is this OK?").texts.at(-1) ?? "", "Hm?", "Hm?");
    expect(effects).toEqual([]);
  });
});

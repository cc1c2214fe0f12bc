import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { asked, createRefundBot, found, more, shown, told } from "../support/refund-bot.ts";
import type { RefundBot, RefundOptions } from "../support/refund-bot.ts";
import type { World } from "../support/world.ts";

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
    await shown(world, answer);
    expect(effects).toEqual(done);
    expect((await world.thread("c1").approvals.list())[0]?.decidedBy).toMatchObject({
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

  it("decides also after the bot's name, and not after another name", async () => {
    const { effects, world } = createRefundBot();
    await world.write("g1", "Refund 7", { ...GROUP, mentions: true });
    const quotes = await asked(world, "g1");
    await world.write("g1", "@bob yes", { ...GROUP, mentions: true, quotes });
    await shown(world, "Hm?", "g1");
    expect(effects).toEqual([]);
    await world.write("g1", "@bot yes", { ...GROUP, mentions: true, quotes, user: "bob" });
    await shown(world, "You can't decide this. It's up to ada.", "g1");
    await world.write("g1", "@bot yes", { ...GROUP, mentions: true, quotes });
    await shown(world, "Told: Approved", "g1");
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
    await more(world);
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
    expect((await world.thread("g1").approvals.list())[0]?.reason).toBeUndefined();
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

  it("points at the buttons also after the bot's name in a group", async () => {
    const { effects, world } = createRefundBot();
    await world.write("g1", "Refund 7", { ...GROUP, mentions: true });
    const card = await asked(world, "g1");
    await world.write("g1", "@bot yes", { ...GROUP, mentions: true, user: "bob" });
    await shown(world, "That alone decides nothing.", "g1");
    expect(found(world, "That alone decides nothing.", "g1").replyTo).toBe(card);
    expect(effects).toEqual([]);
  });

  it("points at the buttons also after the person has asked for the same again", async () => {
    const { world } = createRefundBot();
    await world.write("c1", "Refund 7");
    const card = await asked(world);
    await world.write("c1", "Refund 7");
    await shown(world, "I've asked about this before");
    await world.write("c1", "Yes");
    await shown(world, "That alone decides nothing.");
    expect(found(world, "That alone decides nothing.").replyTo).toBe(card);
  });

  it("goes to the model once the bot has said something else", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await asked(world);
    await world.write("c1", "What's the weather?");
    await shown(world, "Hm?");
    await world.write("c1", "Yes");
    await world.shows("c1", "I'll ask.", found(world, "Refund order 7?").texts.at(-1) ?? "", "Hm?", "Hm?");
    expect(effects).toEqual([]);
  });
});

describe("a yes that quotes nothing, in an approver's own chat", () => {
  const HINT = "That alone decides nothing.";
  const dana = { user: "dana" } as const;

  /** A request of a group about which Dana decides in her own chat, where she has said hello. */
  async function askDana(options: RefundOptions = {}): Promise<RefundBot & { readonly card: string }> {
    const bot = createRefundBot({ approvers: ["dana"], askIn: "approver-dm", ...options });
    await bot.world.write("dana", "Hello", dana);
    await shown(bot.world, "Hm?", "dana");
    await bot.world.write("g1", "Refund 7", { ...GROUP, mentions: true });
    return { ...bot, card: await asked(bot.world, options.askIn === "here" ? "g1" : "dana") };
  }

  /** Somebody writes now, and so after the card. */
  const now = (): { readonly sentAt: number } => ({ sentAt: Date.now() + 1_000 });
  const hints = (world: World, chat = "dana"): number =>
    world.chats.visible(chat).filter((text) => text.startsWith(HINT)).length;
  const answers = (world: World): number =>
    world.chats.visible("dana").filter((text) => text === "Hm?").length;

  it.each(["Yes", "нет", "No, that is too much"])(
    "decides nothing, and points at the card: %s",
    async (text) => {
      const { card, effects, world } = await askDana();
      await world.write("dana", text, { ...dana, ...now() });
      await shown(world, HINT, "dana");
      expect(found(world, HINT, "dana").replyTo).toBe(card);
      expect(hints(world)).toBe(1);
      expect(hints(world, "g1")).toBe(0);
      expect(effects).toEqual([]);
      expect(await world.thread("g1").pendingApprovals()).toHaveLength(1);
      expect(world.requests.some(({ said }) => said === text)).toBe(false);
      expect(await world.press("dana", "Approve", dana)).toBe("Approved.");
      await shown(world, "Done", "dana");
    },
  );

  it("is answered once, also if the platform repeats it", async () => {
    const { world } = await askDana();
    const message = { ...dana, ...now(), id: "same" };
    await world.write("dana", "Yes", message);
    await shown(world, HINT, "dana");
    await world.write("dana", "Yes", message);
    await world.write("dana", "Thanks", { ...dana, ...now() });
    await vi.waitFor(() => expect(answers(world)).toBe(2), 8000);
    expect(hints(world)).toBe(1);
  });

  it("goes to the model once the bot has said something else there", async () => {
    const { world } = await askDana();
    await world.write("dana", "What's the weather?", { ...dana, ...now() });
    await vi.waitFor(() => expect(answers(world)).toBe(2), 8000);
    await world.write("dana", "Yes", { ...dana, ...now() });
    await vi.waitFor(() => expect(answers(world)).toBe(3), 8000);
    expect(hints(world)).toBe(0);
  });

  it("goes to the model if it was written before the card", async () => {
    const { world } = await askDana();
    await world.write("dana", "Yes", dana);
    await vi.waitFor(() => expect(answers(world)).toBe(2), 8000);
    expect(hints(world)).toBe(0);
  });

  it("goes to the model when the card does not ask any more, and from other chats", async () => {
    const { world } = await askDana();
    await world.write("eve", "Yes", { user: "eve", ...now() });
    await shown(world, "Hm?", "eve");
    await world.press("dana", "Reject", dana);
    await shown(world, "Rejected", "dana");
    await world.write("dana", "Yes", { ...dana, ...now() });
    await vi.waitFor(() => expect(answers(world)).toBe(2), 8000);
    expect(hints(world)).toBe(0);
  });

  it("is about a card that /approvals has brought, also below the list and an earlier hint", async () => {
    const { world } = await askDana({ askIn: "here" });
    await world.write("dana", "/approvals", dana);
    await world.press("dana", "Show 1", dana);
    await asked(world, "dana");
    await world.write("dana", "Yes", { ...dana, ...now() });
    await vi.waitFor(() => expect(hints(world)).toBe(1), 8000);
    const mentions = (): number =>
      world.chats.visible("dana").filter((text) => text.includes("Refund order 7")).length;
    const before = mentions();
    await world.write("dana", "/approvals", dana);
    await vi.waitFor(() => expect(mentions()).toBe(before + 1), 8000);
    await world.write("dana", "OK!", { ...dana, ...now() });
    await vi.waitFor(() => expect(hints(world)).toBe(2), 8000);
  });
});

import { beforeEach, describe, expect, it, vi } from "vitest";
import { roles } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, shown, told } from "../support/refund-bot.ts";
import type { RefundOptions } from "../support/refund-bot.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const dana = { user: "dana" } as const;

describe("a question in the approvers' private chats", () => {
  it("is asked there; the chat that asked shows the state, and the outcome", async () => {
    const { effects, runs, world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Waiting for a decision", "g1");
    expect(found(world, "Refund order 7", "g1").buttons.map(({ label }) => label)).toEqual(["Take back"]);
    await asked(world, "dana");
    expect(await world.press("dana", "Approve", dana)).toBe("Approved.");
    await shown(world, "Told: Approved by dana", "g1");
    await shown(world, "Done", "g1");
    await shown(world, "Done", "dana");
    expect(effects).toEqual(["7"]);
    expect(runs[0]).toMatchObject({ person: { userId: "ada" }, approver: { userId: "dana" } });
    expect(told(world, "dana")).toEqual([]);
  });

  it("can be answered in writing, but shows nothing of the conversation (I11)", async () => {
    const { world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("dana", "Hello", dana);
    await world.write("g1", "Refund 7", GROUP);
    const quotes = await asked(world, "dana");
    await world.write("dana", "What did they say before?", { ...dana, quotes });
    await shown(world, "Please use the buttons of the request", "dana");
    await world.write("dana", "No, too much", { ...dana, quotes });
    await shown(world, 'Told: Rejected by dana. Their words: "too much".', "g1");
    await shown(world, "Rejected.", "dana");
    const asker = world.thread("g1").name;
    const heard = world.requests.filter(({ said }) => said.includes("What did they say"));
    expect(heard.map((request) => request.asker)).not.toContain(asker);
  });

  it("is taken back in the chat that asked, and the card of the approver says so", async () => {
    const { world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("dana", "Hello", dana);
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "dana");
    await world.press("g1", "Take back", GROUP);
    await shown(world, "Taken back", "dana");
    expect(world.chats.messages("dana").flatMap(({ buttons }) => buttons)).toEqual([]);
  });

  it("says at once who cannot be reached and what to do, and then asks here", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("g1", "Refund 7", GROUP);
    await shown(
      world,
      "Not reached: Person dana has never written to me. Ask them to open a private chat",
      "g1",
    );
    await world.press("g1", "Approve", { ...GROUP, ...dana });
    await shown(world, "Told: Approved by dana", "g1");
    expect(effects).toEqual(["7"]);
  });

  it("says it when an approver has blocked the bot since", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    world.chats.gone.add("dana");
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "I can't write to Person dana any more. Ask them to unblock me", "g1");
    await shown(world, "Refund order 7?", "g1");
    await world.press("g1", "Approve", { ...GROUP, ...dana });
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });

  it("is asked there for a turn that has no chat and no person", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana"], askIn: "approver-dm" });
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.child("nightly").submitMessages("Refund 7");
    await asked(world, "dana");
    expect(await world.press("dana", "Approve", dana)).toBe("Approved.");
    await shown(world, "Done", "dana");
    expect(effects).toEqual(["7"]);
  });

  it("is asked of those who have the permission, by name", async () => {
    const rolesOf = roles({ billing: ["dana"], refunds: ["ada", "dana"] }, { dana: "Dana D." });
    const { effects, world } = createRefundBot(
      { permissions: ["refunds"], askIn: "approver-dm", requesterMayApprove: false, approvers: ["dana"] },
      {
        authorizeTurn: ({ person }) => ({
          allowed: true,
          grantedPermissions: rolesOf(person),
          people: rolesOf.people,
        }),
      },
    );
    await world.write("dana", "Hello", dana);
    await world.write("c1", "Refund 7");
    await shown(world, "Who can decide: Dana D.");
    await asked(world, "dana");
    await world.press("dana", "Approve", dana);
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });
});

describe("a question that is to be asked in the chat that asks", () => {
  it.each<[string, RefundOptions, string, Partial<typeof GROUP>]>([
    ["the chat that the action names", { askIn: { messenger: "fake", chatId: "g1" } }, "g1", GROUP],
    ["the approver's own chat", { approvers: ["ada"], askIn: "approver-dm" }, "ada", {}],
  ])("has one card there: %s", async (_where, options, chat, rest) => {
    const { effects, world } = createRefundBot(options);
    await world.write(chat, "Hello", rest);
    await shown(world, "Hm?", chat);
    await world.write(chat, "Refund 7", rest);
    await asked(world, chat);
    expect(found(world, "Refund order 7?", chat).buttons.map(({ label }) => label)).toContain("Approve");
    await world.press(chat, "Approve", rest);
    await shown(world, "Told: Approved by ada", chat);
    expect(world.chats.visible(chat).filter((text) => text.includes("Refund order 7"))).toHaveLength(1);
    expect(effects).toEqual(["7"]);
  });
});

it("asks in each chat that asks for the same, if one conversation answers in both", async () => {
  const { effects, world } = createRefundBot({}, { messenger: { conversation: "self" } });
  await world.write("c1", "Refund 7");
  await asked(world, "c1");
  await world.write("c2", "Refund 7", { user: "bob" });
  await asked(world, "c2");
  await world.press("c2", "Approve", { user: "bob" });
  await shown(world, "Told: Approved by bob", "c2");
  await world.press("c1", "Approve");
  await shown(world, "Told: Approved by ada", "c1");
  expect(effects).toEqual(["7"]);
  expect(told(world, "c2")).toHaveLength(1);
});

describe("a question in a group in which none of the named approvers is", () => {
  it("is asked in their private chats, unless the action says where", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana", "eve"] });
    world.chats.members.set("g1", ["ada", "bob"]);
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "dana");
    await shown(world, "Waiting for a decision", "g1");
    await shown(world, "Not reached: Person eve has never written to me.", "g1");
    expect(found(world, "Refund order 7", "g1").buttons.map(({ label }) => label)).toEqual(["Take back"]);
    await world.press("dana", "Approve", dana);
    await shown(world, "Told: Approved by dana", "g1");
    expect(effects).toEqual(["7"]);
  });

  it.each<[string, RefundOptions, readonly string[] | undefined]>([
    ["one of them is there", { approvers: ["dana", "eve"] }, ["ada", "eve"]],
    ["the person who asks is one of them", { approvers: ["dana", "ada"] }, ["ada"]],
    ["the action says so", { approvers: ["dana"], askIn: "here" }, ["ada"]],
    ["the platform does not tell", { approvers: ["dana"] }, undefined],
  ])("is asked there if %s", async (_why, options, members) => {
    const { world } = createRefundBot(options);
    if (members !== undefined) world.chats.members.set("g1", members);
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    expect(found(world, "Refund order 7?", "g1").buttons.map(({ label }) => label)).toContain("Approve");
    expect(world.chats.visible("dana")).toEqual(["Hm?"]);
  });

  it("is asked there if the platform cannot be asked", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana"] });
    world.chats.members.set("g1", () => Promise.reject(new Error("away")));
    await world.write("g1", "Refund 7", GROUP);
    await asked(world, "g1");
    await world.press("g1", "Approve", { ...GROUP, ...dana });
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });
});

describe("a question in a private chat that its person may not decide", () => {
  it("is asked in the private chats of those who may, unless the action says where", async () => {
    const { effects, world } = createRefundBot({ approvers: ["dana"] });
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.write("c1", "Refund 7");
    await asked(world, "dana");
    await shown(world, "Waiting for a decision");
    expect(found(world, "Refund order 7").buttons.map(({ label }) => label)).toEqual(["Take back"]);
    await world.press("dana", "Approve", dana);
    await shown(world, "Told: Approved by dana");
    expect(effects).toEqual(["7"]);
    const here = createRefundBot({ approvers: ["dana"], askIn: "here" }).world;
    await here.write("dana", "Hello", dana);
    await here.write("c1", "Refund 7");
    await asked(here);
  });

  it("says at once that they have never written, and what to do", async () => {
    const { world } = createRefundBot({ approvers: ["dana"] });
    await world.write("c1", "Refund 7");
    await shown(world, "Not reached: Person dana has never written to me.");
    expect(found(world, "Refund order 7?").buttons).toHaveLength(3);
  });

  it("is asked there if the person is one of them, or only the bot's code knows them", async () => {
    const both = createRefundBot({ approvers: ["ada", "dana"] }).world;
    await both.write("dana", "Hello", dana);
    await both.write("c1", "Refund 7");
    await asked(both);
    const unnamed = createRefundBot({ approvers: ({ userId }) => userId === "dana" }).world;
    await unnamed.write("c1", "Refund 7");
    await asked(unnamed);
    await shown(unnamed, "They find this with /approvals in a private chat with me.");
    expect(both.chats.visible("c1").join()).not.toContain("/approvals");
  });
});

describe("a question in another place", () => {
  it("is asked in the chat that the action names", async () => {
    const { effects, world } = createRefundBot({
      approvers: "anyone",
      askIn: { messenger: "fake", chatId: "team" },
    });
    await world.write("team", "Hello", { ...GROUP, ...dana });
    await shown(world, "Hm?", "team");
    await world.write("c1", "Refund 7");
    await asked(world, "team");
    // The card in the chat that asked only shows the state.
    const quotes = found(world, "Waiting for a decision").id;
    await world.write("c1", "yes", { quotes });
    await shown(world, "This is decided in another chat, where I have asked.");
    await world.press("team", "Approve", { ...GROUP, ...dana });
    await shown(world, "Told: Approved by dana");
    expect(effects).toEqual(["7"]);
  });
});

describe("a reminder", () => {
  it("is sent once, below the card", async () => {
    const { world } = createRefundBot({ remindAfterMs: 800 });
    await world.write("c1", "Refund 7");
    const card = await asked(world);
    await shown(world, "This still waits for a decision of ada: Refund order 7.");
    expect(found(world, "This still waits").replyTo).toBe(card);
    await world.write("c1", "Hello?");
    await shown(world, "Hm?");
    expect(world.chats.visible("c1").filter((text) => text.includes("This still waits"))).toHaveLength(1);
  });
});

it("names who has a missing permission, if anybody", async () => {
  const rolesOf = roles({ billing: ["dana"] }, { dana: "Dana D." });
  const { effects, world } = createRefundBot(
    { permissions: ["billing:refund"] },
    {
      authorizeTurn: ({ person }) => ({
        allowed: true,
        grantedPermissions: rolesOf(person),
        people: rolesOf.people,
      }),
    },
  );
  await world.write("c1", "Refund 7");
  await shown(world, "Somebody has to decide.");
  expect(JSON.stringify(world.requests.at(-1)?.prompt)).toContain("These people have it: Dana D..");
  expect(effects).toEqual([]);
});

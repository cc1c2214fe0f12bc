import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action, ActionError } from "../../../src/index.ts";
import type { Action, ActionOptions } from "../../../src/index.ts";
import { undo } from "../../../src/undo/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { useCodemode } from "../support/code-bot.ts";
import { createMailingBot } from "../support/mailing-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

beforeEach(() => {
  captureLog();
  ScriptedBot.undo = undo();
});
afterEach(() => void (ScriptedBot.undo = undefined));
afterAll(() => void (ScriptedBot.undo = undefined));

const script: ModelScript = ({ prompt, said }) => {
  if (/^Decision:/m.test(said)) return [say("Told.")];
  if (prompt.at(-1)?.role === "tool") return [say(`Got ${JSON.stringify(prompt.at(-1)?.content)}`)];
  if (said.includes("undo that")) return [callTool("undo")];
  const orders = /refund ([\w ]+)/.exec(said)?.[1]?.split(" ") ?? [];
  return orders.length === 0 ? [say("Hm?")] : orders.map((order) => callTool("refund", { order }));
};

type Options = Partial<ActionOptions<z.ZodType<{ order: string }>, unknown>>;

function bot(
  options: Options = {},
  more: Pick<WorldOptions, "authorizeAction" | "messengers"> = {},
): { readonly world: World; readonly done: string[] } {
  const done: string[] = [];
  const refund: Action = action({
    description: "Refunds an order.",
    inputSchema: z.object({ order: z.string() }),
    approvalSummary: ({ input }) => `Refund ${input.order}`,
    execute: ({ order }) => {
      done.push(`refund ${order}`);
      return { paid: order };
    },
    revert: ({ input, output }) => {
      done.push(`take back ${input.order} ${JSON.stringify(output)}`);
    },
    ...options,
  });
  return { world: createWorld({ script, getActions: () => ({ refund }), ...more }), done };
}

describe("undo", () => {
  it("offers a button below the answer, which undoes the newest call first, once", async () => {
    const { done, world } = bot();
    await world.write("c1", "refund 7 8");
    await expectShown(world, "Done: Refund 7; Refund 8");
    const shown = world.chats.visible("c1");
    expect(shown.findIndex((text) => text.startsWith("Got"))).toBeLessThan(shown.length - 1);
    const token = world.chats.button("c1", "Undo") ?? "";
    await world.pressToken("c1", token);
    await expectShown(world, "Undone: Refund 7; Refund 8");
    expect(world.chats.button("c1", "Undo")).toBeUndefined();
    expect(await world.pressToken("c1", token)).toContain("undone already");
    expect(done).toEqual(["refund 7", "refund 8", 'take back 8 {"paid":"8"}', 'take back 7 {"paid":"7"}']);
  });

  it("undoes once when two presses come at once", async () => {
    const { done, world } = bot();
    await world.write("c1", "refund 7");
    await expectShown(world, "Done: Refund 7");
    const token = world.chats.button("c1", "Undo") ?? "";
    await Promise.all([world.pressToken("c1", token), world.pressToken("c1", token)]);
    await expectShown(world, "Undone: Refund 7");
    expect(done).toEqual(["refund 7", 'take back 7 {"paid":"7"}']);
  });

  it("lets nobody else undo", async () => {
    const { done, world } = bot();
    await world.write("c1", "refund 7");
    await expectShown(world, "Done: Refund 7");
    expect(await world.press("c1", "Undo", { user: "bob" })).toContain("Only the person");
    expect(done).toEqual(["refund 7"]);
  });

  it("refuses a person who has lost the permission meanwhile", async () => {
    let mayRefund = true;
    const { done, world } = bot({ permissions: ["refund"] }, { authorizeAction: () => mayRefund });
    await world.write("c1", "refund 7");
    await expectShown(world, "Done: Refund 7");
    mayRefund = false;
    await world.press("c1", "Undo");
    await expectShown(world, "I couldn't undo this: Refund 7. You are not allowed to.");
    expect(done).toEqual(["refund 7"]);
  });

  it("lets the person undo who agreed", async () => {
    const { done, world } = bot({ approval: true, approvers: ["bob"], askIn: "here" });
    await world.write("c1", "refund 7");
    await vi.waitFor(() => expect(world.chats.button("c1", "Approve")).toBeDefined(), 8000);
    await world.press("c1", "Approve", { user: "bob" });
    await expectShown(world, "Done: Refund 7");
    await world.press("c1", "Undo", { user: "bob" });
    await expectShown(world, "Undone: Refund 7");
    expect(done).toHaveLength(2);
  });

  it("undoes when the person asks for it in words, and offers that only then", async () => {
    const { done, world } = bot();
    await world.write("c1", "hello");
    await expectShown(world, "Hm?");
    expect(world.requests.at(-1)?.tools).toEqual(["refund"]);
    await world.write("c1", "refund 7");
    await expectShown(world, "Done: Refund 7");
    await world.write("c1", "please undo that");
    await expectShown(world, "Undone: Refund 7");
    expect(done).toEqual(["refund 7", 'take back 7 {"paid":"7"}']);
    await world.write("c1", "hello again");
    await vi.waitFor(() => expect(world.requests.at(-1)?.said).toContain("hello again"), 8000);
    expect(world.requests.at(-1)?.tools).toEqual(["refund"]);
  });

  it("undoes nothing in words of somebody else, also of one with the same id at another messenger", async () => {
    const { done, world } = bot(
      {},
      {
        messengers: (self) => {
          const shared = self.messenger({ conversation: () => "shared" });
          return { fake: shared, other: shared };
        },
      },
    );
    const group = { isGroup: true, mentions: true } as const;
    await world.write("g1", "refund 7", { user: "ada", ...group });
    await expectShown(world, "Done: Refund 7", "g1");
    await world.write("g1", "undo that", { user: "eve", ...group });
    await vi.waitFor(() => expect(world.requests.at(-1)?.said).toContain("undo that"), 8000);
    const elsewhere = { id: "o1", chat: "c2", user: "ada", text: "undo that", sentAt: Date.now() } as const;
    expect(await world.post(elsewhere, "/messengers/other/webhook")).toBe(200);
    await vi.waitFor(() => expect(world.chats.visible("c2")).not.toEqual([]), 8000);
    expect(done).toEqual(["refund 7"]);
    await world.write("g1", "undo that", { user: "ada", ...group });
    await expectShown(world, "Undone: Refund 7", "g1");
    expect(done).toHaveLength(2);
  });

  it("tells the person why it cannot be undone, and keeps other errors out of the chat", async () => {
    const refused = bot({
      revert: () => {
        throw new ActionError("The money was spent.");
      },
    });
    await refused.world.write("c1", "refund 7");
    await expectShown(refused.world, "Done: Refund 7");
    await refused.world.press("c1", "Undo");
    await expectShown(refused.world, "I couldn't undo this: Refund 7. The money was spent.");
    const broken = bot({
      revert: () => {
        throw new Error("a secret");
      },
    });
    await broken.world.write("c1", "refund 7");
    await expectShown(broken.world, "Done: Refund 7");
    await broken.world.press("c1", "Undo");
    await expectShown(broken.world, "I couldn't undo this: Refund 7.");
    expect(broken.world.chats.visible("c1").join()).not.toContain("a secret");
  });

  it("undoes nothing when the time is over, and takes the button away", async () => {
    ScriptedBot.undo = undo({ undoForMs: 1 });
    const { done, world } = bot();
    await world.write("c1", "refund 7");
    await expectShown(world, "Done: Refund 7");
    await vi.waitFor(() => expect(world.chats.button("c1", "Undo")).toBeUndefined(), 8000);
    expect(done).toEqual(["refund 7"]);
  });

  it("still says when the time is over what could not be undone", async () => {
    ScriptedBot.undo = undo({ undoForMs: 1500 });
    const { world } = bot({
      revert: ({ input }) => {
        if (input.order === "8") throw new ActionError("The money was spent.");
      },
    });
    await world.write("c1", "refund 7 8");
    await expectShown(world, "Done: Refund 7; Refund 8");
    await world.press("c1", "Undo");
    await expectShown(world, "I couldn't undo this: Refund 8. The money was spent.");
    await vi.waitFor(() => expect(world.chats.button("c1", "Undo")).toBeUndefined(), 8000);
    await expectShown(world, "Undone: Refund 7\n\nI couldn't undo this: Refund 8. The money was spent.");
  });

  it("shows no card of an action that cannot be undone", async () => {
    const { world } = bot({ revert: undefined });
    await world.write("c1", "refund 7");
    await expectShown(world, "Got");
    expect(world.chats.button("c1", "Undo")).toBeUndefined();
  });
});

describe("undo of a run of code", () => {
  let end: () => void;
  beforeEach(() => void (end = useCodemode()));
  afterEach(() => end());

  const offers = (world: World): readonly string[] =>
    world.chats.visible("c1").filter((text) => text.startsWith("Done: "));

  it("is one card below its end, and is not offered while the run waits for people", async () => {
    const world = createMailingBot();
    await world.write("c1", "mails");
    await expectShown(world, "Mail to bob");
    await world.press("c1", "Approve");
    await expectShown(world, "Mail to cid");
    expect(offers(world)).toEqual([]);
    await world.press("c1", "Approve");
    await expectShown(world, "All is done.");
    await expectShown(world, "Done: Mail to ann; Mail to bob; Mail to cid");
    expect(offers(world)).toHaveLength(1);
    expect(world.chats.visible("c1").at(-1)).toContain("Done: Mail to ann");
    await world.press("c1", "Undo");
    await expectShown(world, "Undone: Mail to ann; Mail to bob; Mail to cid");
  });

  it("is offered for what was done before somebody said no, for its whole time", async () => {
    ScriptedBot.undo = undo({ undoForMs: 3000 });
    const world = createMailingBot();
    await world.write("c1", "mails");
    await expectShown(world, "Mail to bob");
    await world.press("c1", "Reject");
    await expectShown(world, "Done: Mail to ann");
    expect(world.chats.button("c1", "Undo")).toBeDefined();
  });
});

import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action, roles } from "../../../src/index.ts";
import type { ActionOptions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { found, more, shown, told } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const as = (user: string) => ({ ...GROUP, user });

const inputSchema = z.object({
  orderId: z.string(),
  euros: z.number().max(100),
  reason: z.enum(["broken", "late"]),
});

const script: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say("Somebody has to decide.")];
  const outcome = /Decision: (.*)\nResult: (.*)$/.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]} → ${outcome[2]}`)];
  const orderId = /refund (\d+)/i.exec(said)?.[1];
  if (orderId === undefined) return [say("Hm?")];
  const euros = Number(/for (\d+)/.exec(said)?.[1] ?? 50);
  return [say("I'll ask."), callTool("refund", { orderId, euros, reason: "late" })];
};

interface ShopBot {
  readonly world: World;
  readonly inputs: unknown[];
}

function createBot(
  options: Partial<ActionOptions<typeof inputSchema, unknown>> = {},
  rest: WorldOptions = {},
): ShopBot {
  const inputs: unknown[] = [];
  const refund = action({
    description: "Pays money back.",
    inputSchema,
    approval: true,
    approvalSummary: ({ input }) => `Pay back ${input.euros} €`,
    idempotencyKey: ({ input }) => input.orderId,
    execute: (input) => {
      inputs.push(input);
      return { paid: input.euros };
    },
    ...options,
  });
  return { world: createWorld({ script, getActions: () => ({ refund }), ...rest }), inputs };
}

/** Somebody opens the form of the card in a chat, and chooses a field. */
async function change(world: World, chat: string, label: string, user = "ada"): Promise<void> {
  const how = chat.startsWith("g") ? as(user) : { user };
  await more(world, chat, how);
  expect(await world.press(chat, "Edit", how)).toBeUndefined();
  await vi.waitFor(() => expect(world.chats.button(chat, "Change")).toBeDefined(), 8000);
  await world.press(chat, "Change", how);
  await vi.waitFor(() => expect(world.chats.button(chat, label)).toBeDefined(), 8000);
  await world.press(chat, label, how);
}

describe("an approver who changes the input", () => {
  it("is shown on the card, has to be approved, and the model learns what was changed and by whom", async () => {
    const { inputs, world } = createBot({ approvers: ["bob", "cy"] });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Pay back 50 €?", "g1");
    await more(world, "g1", as("ada"));
    expect(await world.press("g1", "Edit", as("ada"))).toBe(
      "You can't decide this. It's up to people whom this bot's team has chosen.",
    );
    expect(await world.press("g1", "Less", as("ada"))).toBeUndefined();
    await vi.waitFor(() => expect(world.chats.button("g1", "More")).toBeDefined(), 8000);
    await change(world, "g1", "Euros", "bob");
    await shown(world, "To write a value, reply to this message.", "g1");
    const { id: quotes } = found(world, "To write a value", "g1");
    expect(await world.press("g1", "Not now", as("cy"))).toBe("bob is changing this.");
    await world.write("g1", "400", { ...as("bob"), quotes });
    await shown(world, "⚠️", "g1");
    await world.write("g1", "40", { ...as("bob"), quotes });
    await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
    expect(await world.press("g1", "Send", as("bob"))).toBe("Changed. It still has to be approved.");
    await shown(world, "Pay back 40 €?", "g1");
    await shown(world, "Changed by bob: Euros: 50 → 40", "g1");
    await shown(world, "This change is over", "g1");
    expect(inputs).toEqual([]);
    expect(await world.press("g1", "Approve", as("cy"))).toBe("Approved.");
    await shown(world, "Told: Approved by cy. bob had changed your input: euros from 50 to 40.", "g1");
    expect(inputs).toEqual([{ orderId: "7", euros: 40, reason: "late" }]);
    const [newest, first] = await world.thread("g1").approvals.list();
    expect(first).toMatchObject({ state: "replaced", successor: newest?.id, edited: undefined });
    expect(newest).toMatchObject({
      state: "done",
      input: { euros: 40 },
      edited: { by: [{ person: { userId: "bob" } }], original: { euros: 50 } },
    });
    expect(newest?.inputHash).not.toBe(first?.inputHash);
    expect(told(world, "g1")).toHaveLength(1);
  });

  it("goes on below a message, and leaves what it answered above", async () => {
    const { inputs, world } = createBot({ approvers: ["bob"] });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Pay back 50 €?", "g1");
    await change(world, "g1", "Euros", "bob");
    await shown(world, "To write a value, reply to this message.", "g1");
    const { id: first } = found(world, "To write a value", "g1");
    await world.write("g1", "40", { ...as("bob"), quotes: first });
    await shown(world, "bob changes: Pay back 50 €\n\nEuros: 40", "g1");
    await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
    const below = world.chats.messages("g1").findLast(({ buttons }) => buttons.length > 0);
    expect(below?.id).not.toBe(first);
    expect(below?.texts.at(-1)).toContain("Is this right?");
    expect(below?.texts.at(-1)).not.toContain("To write a value");
    // Its field has an answer.
    await world.write("g1", "30", { ...as("bob"), quotes: first });
    await shown(world, "Hm?", "g1");
    await world.press("g1", "Send", as("bob"));
    await shown(world, "Changed by bob: Euros: 50 → 40", "g1");
    await world.press("g1", "Approve", as("bob"));
    await shown(world, "Told: Approved by bob.", "g1");
    expect(inputs).toMatchObject([{ euros: 40 }]);
  });

  it("starts the count of those who must approve again", async () => {
    const { inputs, world } = createBot({ approvers: ["bob", "cy", "dan"], quorum: 2 });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Approved by: 0 of 2", "g1");
    await world.press("g1", "Approve", as("cy"));
    await shown(world, "Approved by: 1 of 2: cy", "g1");
    await change(world, "g1", "Reason", "bob");
    await world.press("g1", "broken", as("bob"));
    await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
    await world.press("g1", "Send", as("bob"));
    await shown(world, "Approved by: 0 of 2", "g1");
    await world.press("g1", "Approve", as("bob"));
    await world.press("g1", "Approve", as("dan"));
    await shown(world, "Told: Approved by bob, dan.", "g1");
    expect(inputs).toEqual([{ orderId: "7", euros: 50, reason: "broken" }]);
  });

  it("cannot ask for what the person who asked may not do, and ends when somebody decides", async () => {
    const rolesOf = roles({ boss: ["bob"], clerk: ["ada"] });
    const { inputs, world } = createBot(
      {
        approvers: ["bob"],
        permissions: ({ input }) => [input.reason === "broken" ? "boss" : "clerk"],
      },
      { authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: rolesOf(person) }) },
    );
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Pay back 50 €?", "g1");
    await change(world, "g1", "Reason", "bob");
    await world.press("g1", "broken", as("bob"));
    await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
    await world.press("g1", "Send", as("bob"));
    await shown(world, "⚠️", "g1");
    const { id: quotes } = found(world, "Pay back 50 €?", "g1");
    await world.write("g1", "yes", { ...as("bob"), quotes });
    await shown(world, "Told: Approved by bob.", "g1");
    await shown(world, "This change is over", "g1");
    expect(world.chats.button("g1", "Send")).toBeUndefined();
    expect(inputs).toEqual([{ orderId: "7", euros: 50, reason: "late" }]);
  });

  it("cannot be the person who asked if somebody else must decide, and may approve the change alone", async () => {
    const { inputs, world } = createBot({ approvers: ["ada", "bob"], requesterMayApprove: false });
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Pay back 50 €?", "g1");
    await more(world, "g1", as("ada"));
    expect(await world.press("g1", "Edit", as("ada"))).toContain("You can't decide this.");
    await world.press("g1", "Less", as("ada"));
    await vi.waitFor(() => expect(world.chats.button("g1", "More")).toBeDefined(), 8000);
    await change(world, "g1", "Reason", "bob");
    expect(await world.press("g1", "broken", as("ada"))).toBe("bob is changing this.");
    await world.press("g1", "broken", as("bob"));
    await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
    await world.press("g1", "Send", as("bob"));
    await shown(world, "Changed by bob: Reason: late → broken", "g1");
    expect(await world.press("g1", "Approve", as("ada"))).toContain("You can't decide this.");
    expect(inputs).toEqual([]);
    expect(await world.press("g1", "Approve", as("bob"))).toBe("Approved.");
    await shown(world, "Told: Approved by bob.", "g1");
    expect(inputs).toEqual([{ orderId: "7", euros: 50, reason: "broken" }]);
  });

  it("uses nothing of a grant: the changed call waits for people, and its card offers a grant of its own", async () => {
    const { inputs, world } = createBot({
      approvers: ["bob"],
      amount: ({ input }) => ({ value: input.euros, currency: "EUR" }),
      grantable: ({ input }) =>
        input.euros <= 50
          ? { scope: "small", words: "Small refunds", sum: { value: 60, currency: "EUR" } }
          : undefined,
    });
    const edit = async (euros: number): Promise<void> => {
      await change(world, "g1", "Euros", "bob");
      await shown(world, "To write a value, reply to this message.", "g1");
      const { id: quotes } = found(world, "To write a value", "g1");
      await world.write("g1", String(euros), { ...as("bob"), quotes });
      await vi.waitFor(() => expect(world.chats.button("g1", "Send")).toBeDefined(), 8000);
      expect(await world.press("g1", "Send", as("bob"))).toBe("Changed. It still has to be approved.");
      await shown(world, `Pay back ${euros} €?`, "g1");
    };
    await world.write("g1", "Refund 7 for 90", GROUP);
    await shown(world, "Pay back 90 €?", "g1");
    expect(world.chats.button("g1", "Allow always")).toBeUndefined();
    await edit(40);
    await more(world, "g1", as("bob"));
    await world.press("g1", "Allow always", as("bob"));
    await shown(world, "Told: Approved by bob", "g1");
    await world.write("g1", "Refund 8 for 50", GROUP);
    await vi.waitFor(() => expect(inputs).toHaveLength(2), 8000);
    await world.write("g1", "Refund 9 for 20", GROUP);
    await shown(world, "Pay back 20 €?", "g1");
    await edit(10);
    expect(inputs).toHaveLength(2);
    await world.press("g1", "Approve", as("bob"));
    await vi.waitFor(() => expect(told(world, "g1")).toHaveLength(2), 8000);
    // 10 € of the grant are left, because people have decided about the changed calls.
    await world.write("g1", "Refund 10 for 10", GROUP);
    await vi.waitFor(() => expect(inputs).toHaveLength(4), 8000);
    expect(inputs).toMatchObject([{ euros: 40 }, { euros: 50 }, { euros: 10 }, { euros: 10 }]);
  });
});

import { tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "none";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

const inChat = { messenger: "fake", chatId: "c1" } as const;

describe("reactions and pins", () => {
  it("go to the chat of the running turn, from a tool", async () => {
    const world = createWorld({
      script: ({ prompt }) => (prompt.at(-1)?.role === "tool" ? [say("Done")] : [callTool("like")]),
      getTools: (bot) => ({
        like: tool({
          inputSchema: z.object({}),
          execute: async () => {
            await bot.react(bot.getMessengerContext()?.message?.id ?? "", "👍");
            await bot.pin("b1");
            return "liked";
          },
        }),
      }),
    });
    await world.write("c1", "Do it");
    await world.shows("c1", "Done");
    await expect.poll(() => world.chats.marks).toEqual([expect.stringMatching(/^c1: \S+ 👍$/), "c1: pin b1"]);
  });

  it("go to a target from the root, and have a receipt", async () => {
    const world = createWorld();
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const id = await world.stub.react("b1", "👀", inChat);
    await expect
      .poll(() => world.stub.deliveries.get(id))
      .toMatchObject({ replyId: id, state: "delivered", threadId: "fake:c1", messages: [] });
    await world.stub.react("b1", undefined, inChat);
    await world.stub.unpin(undefined, { messenger: "fake", userId: "ada" });
    await expect.poll(() => world.chats.marks).toEqual(["c1: b1 👀", "c1: b1 none", "c1: unpin the newest"]);
  });

  it("are refused with a code when they cannot be", async () => {
    const { stub } = createWorld();
    expect(await codeOf(stub.react("b1", "👍"))).toBe("target-missing");
    expect(await codeOf(stub.pin("b1", { messenger: "fake", chatId: "nowhere" }))).toBe("chat-unknown");
    expect(await codeOf(stub.react("", "👍", inChat))).toBe("mark-invalid");
    expect(await codeOf(stub.react("b1", "", inChat))).toBe("mark-invalid");
    expect(await codeOf(stub.pin("", inChat))).toBe("mark-invalid");
  });
});

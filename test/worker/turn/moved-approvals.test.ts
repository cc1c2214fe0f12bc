import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import type { OutgoingContent } from "../../../src/core/chat/surface.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, found, shown } from "../support/refund-bot.ts";
import { untilReached } from "../support/until-reached.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const isCard = ({ buttons = [] }: OutgoingContent): boolean => buttons.length > 0;

async function move(world: World): Promise<void> {
  world.chats.moved.set("old", "new");
  await world.post({ kind: "moved", id: "s1", chat: "old", user: "ada", isGroup: true, movedTo: "new" });
}

async function kill(world: World): Promise<void> {
  await runInDurableObject(world.thread("old"), (_bot, ctx) => ctx.abort("killed by a test")).catch(() => {});
  await world.write("new", "Are you there?", GROUP);
}

interface Moment {
  readonly world: World;
  /** Runs `body` while the call that this content belongs to is held at a moment, and lets it go on. */
  readonly during: (
    moment: "beforePost" | "beforeAnswer",
    isMeant: (content: OutgoingContent) => boolean,
    body: () => Promise<unknown>,
    isLost?: boolean,
  ) => Promise<void>;
}

/** Moments at which a group becomes a supergroup. Each asks for a refund, and moves the chat. */
const MOMENTS: Record<string, (at: Moment) => Promise<void>> = {
  "before the post of the card leaves": async ({ during, world }) => {
    await during(
      "beforeAnswer",
      ({ text }) => text.includes("I'll ask"),
      async () => {
        await vi.waitFor(async () => {
          expect(await world.thread("old").pendingApprovals()).toHaveLength(1);
        }, 8000);
        await move(world);
      },
    );
  },
  "while the post of the card is under way": ({ during, world }) =>
    during("beforePost", isCard, () => move(world)),
  "before the answer of the post": ({ during, world }) => during("beforeAnswer", isCard, () => move(world)),
  "before the post fails without an answer": ({ during, world }) =>
    during("beforeAnswer", isCard, () => move(world), true),
  "after the answer of the post": async ({ world }) => {
    await asked(world, "old");
    await move(world);
  },
  "before the answer of an edit of the card": async ({ during, world }) => {
    await asked(world, "old");
    await world.press("old", "More", GROUP);
    await vi.waitFor(() => expect(world.chats.button("old", "Less")).toBeDefined(), 8000);
    const edited = during("beforeAnswer", isCard, () => move(world));
    await world.press("old", "Less", GROUP);
    await edited;
  },
};

describe.each(["in time", "after the process has died"])(
  "a group that becomes a supergroup, of which the bot learns %s,",
  (how) => {
    it.each(Object.keys(MOMENTS))("gets the card of a waiting request, %s", async (name) => {
      const { effects, world } = createRefundBot({ approvers: "anyone" });
      const during: Moment["during"] = async (moment, isMeant, body, isLost = false) => {
        const gate = createGate();
        world.chats[moment] = async (chat: string, content: OutgoingContent) => {
          if (chat !== "old" || !isMeant(content)) return;
          await gate.pass();
          if (isLost) throw new Error("The answer is lost.");
        };
        await untilReached(gate);
        await body();
        if (how !== "in time") await kill(world);
        gate.open();
      };
      const moment = MOMENTS[name]?.({ during, world });
      await world.write("old", "Refund 7", GROUP);
      await moment;
      if (how !== "in time" && world.chats.visible("new").length === 0) await kill(world);
      await asked(world, "new");
      await world.press("new", "Approve", GROUP);
      await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
      await shown(world, "Done", "new");
      const cards = world.chats.visible("new").filter((text) => text.includes("Refund order 7"));
      expect(cards.filter((text) => text.includes("Done"))).toHaveLength(1);
      expect(found(world, "Done", "new").buttons).toEqual([]);
    });
  },
);

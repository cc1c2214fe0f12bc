import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { captureLog } from "../support/log-lines.ts";
import { asked, shown } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const script: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say("OK.")];
  const outcome = /Decision: (\w+).*\nResult: (.*)$/s.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]} → ${outcome[2]}`)];
  const path = /delete (\S+)/i.exec(said)?.[1];
  return path === undefined ? [say("Hm?")] : [callTool("remove", { path })];
};

interface Bot {
  readonly world: World;
  readonly removed: string[];
}

function createBot(needsApproval: unknown, rest: object = {}): Bot {
  const removed: string[] = [];
  const remove = {
    ...tool({
      description: "Delete a file",
      inputSchema: z.object({ path: z.string() }),
      execute: ({ path }) => {
        removed.push(path);
        return { path };
      },
    }),
    needsApproval,
    ...rest,
  } as unknown as ReturnType<typeof tool>;
  return { world: createWorld({ script, getTools: () => ({ remove }) }), removed };
}

describe("a tool with needsApproval", () => {
  it("waits with a card, and runs once somebody approves; its outcome is told", async () => {
    const { removed, world } = createBot(true);
    await world.write("c1", "Delete a.txt");
    await shown(world, "Delete a file");
    await shown(world, "Path: a.txt");
    expect(removed).toEqual([]);
    expect(await world.press("c1", "Approve")).toBe("Approved.");
    await shown(world, 'Told: Approved → {"path":"a.txt"}');
    expect(removed).toEqual(["a.txt"]);
  });

  it("does not run when somebody rejects it", async () => {
    const { removed, world } = createBot(true);
    await world.write("c1", "Delete a.txt");
    await world.press("c1", "Reject");
    await shown(world, "Told: Rejected");
    expect(removed).toEqual([]);
  });

  it("runs at once for inputs that its function lets pass, and two calls are two effects", async () => {
    const needs = ({ path }: { path: string }): Promise<boolean> => Promise.resolve(path.startsWith("/"));
    const { removed, world } = createBot(needs);
    await world.write("c1", "Delete a.txt");
    await vi.waitFor(() => expect(removed).toEqual(["a.txt"]), 8000);
    await world.write("c1", "Delete a.txt");
    await vi.waitFor(() => expect(removed).toEqual(["a.txt", "a.txt"]), 8000);
    await world.write("c1", "Delete /etc");
    await asked(world);
    expect(removed).toHaveLength(2);
  });

  it("never gives a waiting result to the tool's own toModelOutput", async () => {
    const seen: unknown[] = [];
    const toModelOutput = ({ output }: { output: unknown }): unknown => {
      seen.push(output);
      return { type: "text", value: `Removed ${(output as { path: string }).path}` };
    };
    const { world } = createBot(({ path }: { path: string }) => path !== "b.txt", { toModelOutput });
    await world.write("c1", "Delete a.txt");
    await asked(world);
    await world.write("c1", "Delete b.txt");
    await vi.waitFor(
      () => expect(JSON.stringify(world.requests.at(-1)?.prompt)).toContain("Removed b.txt"),
      8000,
    );
    expect(new Set(seen.map((output) => JSON.stringify(output)))).toEqual(new Set(['{"path":"b.txt"}']));
  });
});

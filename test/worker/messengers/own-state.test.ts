import { runInDurableObject } from "cloudflare:test";
import { tool } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Think } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";

/** The loan list of `docs/learn/memory-and-state.md`. */
function loanTools(agent: Think) {
  return {
    borrow_book: {
      ...tool({
        description: "Notes that the person has borrowed a book.",
        inputSchema: z.object({ title: z.string() }),
        execute: ({ title }) => {
          void agent.sql`INSERT OR REPLACE INTO loans (title) VALUES (${title})`;
          return "noted";
        },
      }),
      recovery: "rerun" as const,
    },
  };
}

it("keeps the bot's own rows and state in each conversation, also over a death", async () => {
  captureLog();
  const world = createWorld({
    onStart: (agent) => void agent.sql`CREATE TABLE IF NOT EXISTS loans (title TEXT PRIMARY KEY)`,
    getTools: loanTools,
    script: ({ prompt, said }) =>
      prompt.at(-1)?.role === "tool" ? [say(`Noted: ${said}`)] : [callTool("borrow_book", { title: said })],
  });
  const loans = (chat: string): Promise<string[]> =>
    runInDurableObject(world.thread(chat), (bot) =>
      bot.sql<{ title: string }>`SELECT title FROM loans ORDER BY title`.map(({ title }) => title),
    );
  await world.write("c1", "Moby-Dick");
  await world.shows("c1", "Noted: Moby-Dick");
  await world.write("c2", "Emma");
  await world.shows("c2", "Noted: Emma");
  await runInDurableObject(world.thread("c1"), (bot) => bot.setState({ tone: "formal" }));
  await runInDurableObject(world.thread("c1"), (_bot, state) => state.abort("killed by a test")).catch(
    () => undefined,
  );
  expect(await loans("c1")).toEqual(["Moby-Dick"]);
  expect(await loans("c2")).toEqual(["Emma"]);
  expect(await runInDurableObject(world.thread("c1"), (bot) => bot.state)).toEqual({ tone: "formal" });
  expect(await runInDurableObject(world.thread("c2"), (bot) => bot.state)).toBeUndefined();
});

it("forgets a conversation that is destroyed, and only that one", async () => {
  captureLog();
  const world = createWorld({
    script: ({ prompt }) => [say(`${prompt.filter(({ role }) => role === "user").length}`)],
  });
  for (const chat of ["c1", "c2"]) {
    await world.write(chat, "one");
    await world.shows(chat, "1");
  }
  await world
    .thread("c1")
    .destroy()
    .catch(() => undefined);
  // A webhook that meets the object while it ends is answered 503, and the platform sends it again.
  await expect.poll(() => world.write("c1", "two")).toBe(200);
  await world.shows("c1", "1", "1");
  await world.write("c2", "two");
  await world.shows("c2", "1", "2");
});

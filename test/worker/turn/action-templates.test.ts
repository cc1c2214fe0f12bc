import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** A bot whose model makes these calls, step by step. */
function createShop(
  steps: readonly (readonly ModelStep[])[],
  actionTemplates = true,
): World & { readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const world = createWorld({
    settings: { actionTemplates },
    script: ({ prompt }) => {
      const asked = prompt.findLastIndex(({ role }) => role === "user");
      const done = prompt.slice(asked).filter(({ role }) => role === "assistant").length;
      return steps[done] ?? [say("Done.")];
    },
    getActions: () => ({
      make: action({
        description: "Make an order.",
        inputSchema: z.object({}),
        execute: (_input, { shortTermMemory }) => {
          shortTermMemory.set("cart", { id: "c_1" });
          return { id: 7, lines: [{ sku: "A" }] };
        },
      }),
      send: action({
        description: "Send it.",
        inputSchema: z.object({ id: z.number(), note: z.string() }),
        execute: (input) => {
          sent.push(input);
          return "sent";
        },
      }),
    }),
  });
  return Object.assign(world, { sent });
}

const send = (id: unknown, note = "{{calls[0].lines[0].sku}} of {{shortTermMemory.cart.id}}"): ModelStep =>
  callTool("send", { id, note });

it("fills in outputs of earlier calls, of the same step and of earlier ones, before the input is checked", async () => {
  const world = createShop([[callTool("make"), send("{{calls[0].id}}")], [send("{{calls[0].id}}")]]);
  await world.write("c1", "Go");
  await world.shows("c1", "Done.");
  const whole = { id: 7, note: "A of c_1" };
  expect(world.sent).toEqual([whole, whole]);
});

it("answers a template that names nothing with its path, and nothing runs", async () => {
  const world = createShop([
    [callTool("make")],
    [send("{{calls[0].number}}", "x"), send("{{calls[1].id}}", "x")],
  ]);
  await world.write("c1", "Go");
  await world.shows("c1", "Done.");
  expect(world.sent).toEqual([]);
  const read = JSON.stringify(world.requests.at(-1)?.prompt);
  expect(read).toContain("there is no calls[0].number");
  expect(read).toContain("there is no calls[1]");
  expect(read).toContain("ActionInputError");
});

it("knows the calls of the running turn only", async () => {
  const world = createShop([[callTool("make")]]);
  await world.write("c1", "Go");
  await world.shows("c1", "Done.");
  world.script(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? [say("Over.")] : [send("{{calls[0].id}}", "x")],
  );
  await world.write("c1", "Again");
  await world.shows("c1", "Done.", "Over.");
  expect(world.sent).toEqual([]);
});

it("passes templates on as they are, unless the bot turns them on", async () => {
  const world = createShop([[callTool("make")], [send(1, "{{calls[0].id}}")]], false);
  await world.write("c1", "Go");
  await world.shows("c1", "Done.");
  expect(world.sent).toEqual([{ id: 1, note: "{{calls[0].id}}" }]);
});

import { z } from "zod";
import { ActionConnector, createCodemodeRuntime } from "../../../src/codemode/index.ts";
import { action } from "../../../src/index.ts";
import { callTool, say } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

const SEND = action({
  description: "Sends a mail.",
  inputSchema: z.object({ to: z.string() }),
  approval: ({ input }) => input.to !== "ann",
  approvalSummary: ({ input }) => `Mail to ${input.to}`,
  execute: ({ to }) => ({ sent: to }),
  revert: () => undefined,
});

const CODE =
  "async () => { for (const to of ['ann', 'bob', 'cid']) await actions.send({ to }); return 'all'; }";

/** A bot whose code sends three mails, two of them with consent. */
export function createMailingBot(rest: WorldOptions = {}): World {
  return createWorld({
    script: ({ prompt, said }) => {
      if (said.includes("Outcome of an action")) return [say("All is done.")];
      if (prompt.at(-1)?.role === "tool") return [say("It waits.")];
      return said.includes("undo that") ? [callTool("undo")] : [callTool("codemode", { code: CODE })];
    },
    getActions: () => ({ send: SEND }),
    getTools: (agent) => {
      const { ctx, env } = agent as unknown as { readonly ctx: object; readonly env: object };
      const connectors = [new ActionConnector(ctx, env)];
      return { codemode: createCodemodeRuntime({ ctx, connectors }).tool() as never };
    },
    ...rest,
  });
}

import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { ExtensionHooks } from "../../../src/extensions/extension-hooks.ts";
import type { ChunkContext } from "../../../src/turn/hooks.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

it("gives onChunk the pieces that wait in one run, in their order, and mixes no kinds of pieces", async () => {
  const inputs: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<void>();
  const hooks = new ExtensionHooks({
    clock: createVirtualClock(),
    log: createLog(() => undefined),
    executor: {
      execute: async (code) => {
        const [, literal = '"null"'] = /JSON\.parse\((".*")\)/.exec(code) ?? [];
        inputs.push(JSON.parse(JSON.parse(literal) as string));
        begun.resolve();
        await first.promise;
        return { result: undefined };
      },
    },
    parts: {} as never,
    extensions: () => [
      { manifest: { name: "notes", version: "1" }, source: "({})", tools: [], hooks: ["onChunk"] },
    ],
    maxSteps: () => 10,
    onIdle: () => idle.resolve(),
  });
  const { onChunk } = hooks.wrap({});
  const chunk = (type: string, text: string): unknown =>
    onChunk?.({ chunk: { type, text } } as unknown as ChunkContext);
  await chunk("text-delta", "first ");
  await begun.promise;
  for (let index = 0; index < 300; index += 1) await chunk("text-delta", `${index} `);
  await chunk("reasoning-delta", "Hm.");
  await chunk("text-delta", "last");
  first.resolve();
  await idle.promise;
  expect(inputs).toEqual([
    { type: "text-delta", text: "first " },
    { type: "text-delta", text: Array.from({ length: 300 }, (_, index) => `${index} `).join("") },
    { type: "reasoning-delta", text: "Hm." },
    { type: "text-delta", text: "last" },
  ]);
});

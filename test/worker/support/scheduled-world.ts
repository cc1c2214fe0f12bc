import { expect, vi } from "vitest";
import type { OccurrenceRecord, ThinkScheduledTasks } from "../../../src/index.ts";
import { failWith, say } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

/** A schedule that no test sees come. */
export const MONTHLY = { schedule: "every month on 1 at 00:00 in UTC" } as const;
export const to = (chat: string): { messenger: string; chatId: string } => ({
  messenger: "fake",
  chatId: chat,
});
/** A model that never answers. */
export const broken: ModelScript = () => [failWith(new Error("no"))];
export const digest: ModelScript = () => [say("The digest.")];

/** A world whose root has started, in whose chats somebody has written. */
export async function start(
  tasks: ThinkScheduledTasks,
  options: WorldOptions = {},
  chats: readonly string[] = ["c1"],
): Promise<World> {
  const world = createWorld({ scheduledTasks: () => tasks, ...options });
  for (const chat of chats) {
    await world.write(chat, `Hello from ${chat}`);
    await vi.waitFor(() => expect(world.chats.visible(chat)).toHaveLength(1), 8000);
  }
  return world;
}

/** Waits until so many occurrences of a task have ended. Returns all of them. */
export async function untilEnded(world: World, taskId: string, count = 1): Promise<OccurrenceRecord[]> {
  return vi.waitFor(
    async () => {
      const found = await world.stub.schedules.occurrences({ taskId });
      if (found.filter(({ endedAt }) => endedAt !== undefined).length < count)
        throw new Error(`Not ended: ${JSON.stringify(found)}`);
      return found;
    },
    { timeout: 8000, interval: 20 },
  );
}

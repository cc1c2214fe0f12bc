import { z } from "zod";
import type { BotDoor } from "./contract.ts";

const chatSchema = z.object({
  chatId: z.coerce.number().int().optional(),
  topicId: z.coerce.number().int().positive().optional(),
});
const changeSchema = z.object({
  conversation: z.string().min(1).exactOptional(),
  taskId: z.string().min(1),
  action: z.enum(["pause", "resume", "run", "delete"]),
});
const moveSchema = z.object({ time: z.number().int().positive() });

/** Operations of the page on the bot that the playground serves. A simulator on its own has no such bot. */
export function botOperations(
  door: () => BotDoor | undefined,
  onChange: () => void,
): Readonly<Record<string, (body: unknown) => Promise<unknown>>> {
  const open = (): BotDoor => {
    const found = door();
    if (found === undefined) throw new Error("Only `npm start` and `switchboard dev` show schedules.");
    return found;
  };
  return {
    schedules: (body) => {
      const { chatId, topicId } = chatSchema.parse(body);
      if (chatId === undefined) return open().schedules(undefined);
      return open().schedules({ chatId, ...(topicId !== undefined && { topicId }) });
    },
    changeSchedule: async (body) => {
      await open().changeSchedule(changeSchema.parse(body));
      onChange();
    },
    moveClock: async (body) => {
      await open().moveClock(moveSchema.parse(body).time);
      onChange();
    },
  };
}

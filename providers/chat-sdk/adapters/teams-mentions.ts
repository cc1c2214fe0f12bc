import type { Message } from "chat";
import { z } from "zod";
import type { MentioningText } from "../events/text-to-bot.ts";

const mentioning = z.object({
  recipient: z.object({ id: z.string() }),
  entities: z.array(
    z.object({
      type: z.string(),
      text: z.string().nullish(),
      mentioned: z.object({ id: z.string().nullish(), name: z.string().nullish() }).nullish(),
    }),
  ),
});

/** Finds the names by which people mention the bot. A team can give it another one. */
export function mentioningText({ raw, text }: Pick<Message, "raw" | "text">): MentioningText | undefined {
  const { data } = mentioning.safeParse(raw);
  if (data === undefined) return undefined;
  const mentions = data.entities
    .filter(({ mentioned, type }) => type === "mention" && mentioned?.id === data.recipient.id)
    .flatMap(({ mentioned, text: tag }) => {
      const name = tag?.replace(/<[^>]*>/g, "").trim() || mentioned?.name;
      // The adapter writes `@name` for `<at>name</at>`, and the name alone if the tag has attributes.
      return name ? [`@${name}`, ...(tag?.startsWith("<at ") ? [name] : [])] : [];
    });
  return { text, mentions };
}

import { action, createWorker, fileSchema, modelFromEnv, photoSchema, placeSchema, Think } from "switchboard";
import type { BotEnvironment, ThinkActions, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

/** One form for each kind of answer. */
const FORMS = {
  text: z.string().min(3),
  number: z.number().min(0).max(50),
  yes: z.boolean(),
  option: z.enum(["red", "green", "blue"]),
  date: z.iso.date(),
  time: z.iso.datetime(),
  mail: z.email(),
  page: z.url(),
  file: fileSchema({ accept: ["text/plain"] }),
  photo: photoSchema(),
  place: placeSchema(),
  party: z.object({
    guests: z.int().min(1).max(20).describe("How many guests"),
    outside: z.boolean().describe("On the terrace"),
    note: z.string().optional().describe("Anything else"),
  }),
};

/** Asks people, and says what they have answered. */
export class AskingBot extends Think<BotEnvironment> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  override getActions(): ThinkActions {
    return {
      confirm: action({
        description: "Asks yes or no.",
        inputSchema: z.object({}),
        execute: async (_input, ctx) => ({ answer: await ctx.confirm({ message: "Shall I?" }) }),
      }),
      choose: action({
        description: "Asks which one.",
        inputSchema: z.object({}),
        execute: async (_input, ctx) => {
          const options = ["S", { value: "M", label: "Medium" }] as const;
          return { answer: (await ctx.choose({ message: "Which size?", options })).value };
        },
      }),
      elicit: action({
        description: "Asks for a value.",
        inputSchema: z.object({ kind: z.enum(Object.keys(FORMS) as (keyof typeof FORMS)[]) }),
        execute: async ({ kind }, ctx) => {
          const schema: z.ZodType = FORMS[kind];
          const { value, why } = await ctx.elicit({ message: `The ${kind}, please`, schema });
          return { answer: JSON.stringify(why ?? value) };
        },
      }),
      count_bytes: action({
        description: "Asks for a photo, and counts its bytes.",
        inputSchema: z.object({}),
        execute: async (_input, ctx) => {
          const { value } = await ctx.elicit({ message: "A photo, please", schema: photoSchema() });
          if (value === undefined) return { answer: "none" };
          const { bytes } = await this.sentFile(value).fetch({ signal: ctx.signal });
          return { answer: `${bytes.byteLength} bytes` };
        },
      }),
    };
  }
}

export default createWorker(AskingBot);

import { z } from "zod";
import type { FormPress } from "./form.ts";

const formPress: z.ZodType<FormPress> = z.object({
  at: z.string(),
  do: z.enum(["pick", "keep", "skip", "back", "page", "send", "change", "cancel"]),
  index: z.int().nonnegative().exactOptional(),
});

/** Returns the press of a button of a form's card. Undefined for anything else. */
export function parseFormPress(press: unknown): FormPress | undefined {
  return formPress.safeParse(press).data;
}

import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { createHarness } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

export const LIMITS = { maxLength: 200, maxEntities: 100 };
export const TEXT = Array.from(
  { length: 16 },
  (_, index) => `Paragraph ${index} says **something** of its own.`,
).join("\n\n");
export const GROUP = {
  messengerId: "telegram",
  threadId: "telegram:-7",
  chatId: "-7",
  isDirectMessage: false,
};

export function harnessOf(mode: DeliveryMode, surface: HarnessOptions["surface"] = {}): Harness {
  return createHarness({ policy: { mode }, surface: { limits: LIMITS, draftLastsMs: 30_000, ...surface } });
}

/** Streams the text in pieces, and looks at the chat after each. */
export async function stream(
  { delivery, advance }: Harness,
  text: string,
  look: (soFar: string) => void = () => {},
): Promise<void> {
  for (let at = 0; at < text.length; at += 20) {
    delivery.append("r1", text.slice(at, at + 20));
    await advance(300);
    look(text.slice(0, at + 20));
  }
}

export const methodsOf = ({ surface }: Harness): string[] => [
  ...new Set(surface.calls.map(({ method }) => method)),
];

export const lettersOf = (...texts: string[]): string => texts.join("").replaceAll(/\s/g, "");

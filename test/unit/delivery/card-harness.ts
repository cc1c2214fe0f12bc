import type { CardBody } from "../../../src/core/chat/delivery.ts";
import type { OutgoingButton } from "../../../src/core/chat/surface.ts";

/** A card with one row of callback buttons. */
export function cardOf(text: string, labels: readonly string[] = [], more: Partial<CardBody> = {}): CardBody {
  const row: OutgoingButton[] = labels.map((label) => ({ kind: "callback", label, token: `t:${label}` }));
  return { key: "key-1", text, ...(row.length > 0 && { buttons: [row] }), ...more };
}

export const PHOTO = { url: "https://shop.example/lamp.jpg" } as const;

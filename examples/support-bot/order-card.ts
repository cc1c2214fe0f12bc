import type { CardContent } from "switchboard";
import type { Order } from "./lookup-order.ts";

/** The state of an order as a card, with its picture if the shop has one. */
export function orderCard(order: Order): CardContent {
  const { expectedOn, id, items = [], picture, status, trackingNumber } = order;
  const to = (kind: "invoice" | "status", label: string) =>
    ({ kind: "callback", label, payload: { kind, id } }) as const;
  const copy = { kind: "copy", label: "Copy tracking number", text: trackingNumber ?? "" } as const;
  return {
    kind: "card",
    text: `**Order ${id}**\n${items.map(({ name, quantity }) => `${quantity} × ${name}`).join("\n")}`,
    fields: [
      { label: "Status", value: status },
      ...(expectedOn === undefined ? [] : [{ label: "Expected", value: expectedOn }]),
    ],
    ...(picture !== undefined && { image: { url: picture } }),
    buttons: [
      [to("status", "Refresh"), to("invoice", "Invoice (PDF)")],
      trackingNumber === undefined ? [] : [copy],
    ],
  };
}

import type { CardContent } from "switchboard";

const PAGES = {
  Menu: "**What can I help you with?**\nPick a topic, or just write to me.",
  Delivery: "**Delivery**\nParcels leave us within one working day and take two to three more.",
  Returns: "**Returns**\nUnopened bags can come back within 30 days. The label is in your parcel.",
  "Opening hours": "**Opening hours**\nOur team answers Monday to Friday, 9:00 to 17:00.",
} as const;

export type MenuPage = keyof typeof PAGES;

/** The menu of the shop as a card. Its buttons turn the pages. */
export function menuCard(page: MenuPage): CardContent {
  const to = (next: MenuPage, label: string = next) =>
    ({ kind: "callback", label, payload: { kind: "page", page: next } }) as const;
  const topics = [[to("Delivery"), to("Returns")], [to("Opening hours")]];
  return {
    kind: "card",
    text: PAGES[page],
    buttons: page === "Menu" ? topics : [[to("Menu", "Back to the menu")]],
  };
}

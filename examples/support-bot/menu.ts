import type { CardButton, CardContent } from "switchboard";

/** Pages of the menu. Each is a state of the same card. */
export type MenuPage = "start" | "delivery" | "returns" | "hours";

const PAGES: Readonly<Record<MenuPage, { readonly title: string; readonly text: string }>> = {
  start: { title: "Menu", text: "**What can I help you with?**\nPick a topic, or just write to me." },
  delivery: {
    title: "Delivery",
    text: "**Delivery**\nParcels leave us within one working day and take two to three more.",
  },
  returns: {
    title: "Returns",
    text: "**Returns**\nUnopened bags can come back within 30 days. The label is in your parcel.",
  },
  hours: {
    title: "Opening hours",
    text: "**Opening hours**\nOur team answers Monday to Friday, 9:00 to 17:00.",
  },
};

/** The menu as a card, showing one of its pages. */
export function menuCard(page: MenuPage): CardContent {
  const button = (to: MenuPage, label = PAGES[to].title): CardButton => ({
    kind: "callback",
    label,
    payload: { menu: to },
  });
  return {
    kind: "card",
    text: PAGES[page].text,
    buttons:
      page === "start"
        ? [[button("delivery"), button("returns")], [button("hours")]]
        : [[button("start", "Back to the menu")]],
  };
}

/** The page that a press asks for. Undefined if the press is of another card. */
export function menuPageOf(payload: unknown): MenuPage | undefined {
  if (typeof payload !== "object" || payload === null || !("menu" in payload)) return undefined;
  const { menu } = payload;
  return typeof menu === "string" && Object.hasOwn(PAGES, menu) ? (menu as MenuPage) : undefined;
}

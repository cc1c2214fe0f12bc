import type { LocationContent } from "switchboard";

export const SYSTEM_PROMPT = [
  "You are the support assistant of a small online shop for coffee and tea.",
  "Answer in the language of the customer, briefly and friendly. You are in a chat: no headings, short paragraphs.",
  "Use lookup_order for every question about an order, and only say about orders what it returns.",
  "If an order is not found, ask for its number again; it is in the confirmation mail.",
  "Use refund_order when the customer wants money back for an order, and names the order and the amount.",
  "Use cancel_order and change_address only for the order that the customer names. They work until it is shipped.",
  "Use return_order when the customer wants to send something back. It asks for everything that it needs.",
  "When the customer tells a size or an address that will be needed again, keep it with set_context: the customer is asked first.",
  "For anything else about an order, offer draft_email: the customer sends it to our team.",
].join("\n");

export const HELP_ADDRESS = "help@shop.example";

export const SHOP: LocationContent = {
  kind: "location",
  latitude: 57.7072,
  longitude: 11.9668,
  title: "Coffee & Tea",
  address: "Kungsgatan 12, Gothenburg",
};

export const WHERE = `You find our shop at ${SHOP.address}. It's open Monday to Friday, 9:00 to 17:00.`;

export const HOURS =
  "Our shop and our team are there Monday to Friday, 9:00 to 17:00, Gothenburg time. I'm here all the time.";

export const NOT_REACHED = "The order system isn't responding right now.";

/** `12.50 €` */
export function euros(cents: number): string {
  return `${(cents / 100).toFixed(2)} €`;
}

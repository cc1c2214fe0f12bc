/** The orders of a small shop for coffee and tea, which the support bot looks up. */
export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly status: "processing" | "shipped" | "out for delivery" | "delivered" | "cancelled" | "returned";
  readonly placedOn: string;
  /** Name of the picture of what was ordered. */
  readonly picture: "coffee" | "tea" | "kitchen" | "gift";
  readonly items: readonly {
    readonly name: string;
    readonly quantity: number;
    readonly priceCents: number;
  }[];
  readonly totalCents: number;
  readonly currency: "EUR";
  readonly carrier?: string;
  readonly trackingNumber?: string;
  readonly expectedOn?: string;
  readonly deliveredOn?: string;
  readonly note?: string;
}

type Draft = Omit<Order, "totalCents" | "currency">;

const DRAFTS: readonly Draft[] = [
  {
    id: "1001",
    picture: "coffee",
    customer: "Ada Lindqvist",
    status: "shipped",
    placedOn: "2026-11-14",
    items: [
      { name: "House espresso, 1 kg", quantity: 2, priceCents: 2490 },
      { name: "Paper filters, 100 pieces", quantity: 1, priceCents: 390 },
    ],
    carrier: "PostNord",
    trackingNumber: "PN4410298812SE",
    expectedOn: "2026-11-24",
  },
  {
    id: "1002",
    picture: "kitchen",
    customer: "Bruno Moreau",
    status: "processing",
    placedOn: "2026-11-20",
    items: [{ name: "Hand grinder", quantity: 1, priceCents: 8900 }],
    note: "Waiting for the grinder's new delivery, expected within two days.",
  },
  {
    id: "1003",
    picture: "tea",
    customer: "Chen Wei",
    status: "delivered",
    placedOn: "2026-11-02",
    items: [
      { name: "Jasmine green tea, 250 g", quantity: 3, priceCents: 1290 },
      { name: "Glass teapot, 0.8 l", quantity: 1, priceCents: 3450 },
    ],
    carrier: "DHL",
    trackingNumber: "JD014600003828",
    deliveredOn: "2026-11-06",
  },
  {
    id: "1004",
    picture: "kitchen",
    customer: "Dilnoza Karimova",
    status: "out for delivery",
    placedOn: "2026-11-17",
    items: [{ name: "Moka pot, 6 cups", quantity: 1, priceCents: 3990 }],
    carrier: "GLS",
    trackingNumber: "ZK39Q7W1",
    expectedOn: "2026-11-21",
  },
  {
    id: "1005",
    picture: "kitchen",
    customer: "Emeka Okafor",
    status: "cancelled",
    placedOn: "2026-11-11",
    items: [{ name: "Milk frother", quantity: 1, priceCents: 4500 }],
    note: "Cancelled by the customer before dispatch; refunded on 2026-11-12.",
  },
  {
    id: "1006",
    picture: "kitchen",
    customer: "Freya Sørensen",
    status: "returned",
    placedOn: "2026-10-23",
    items: [{ name: "Electric kettle", quantity: 1, priceCents: 7900 }],
    carrier: "PostNord",
    trackingNumber: "PN4409981120DK",
    note: "Arrived dented; refunded in full on 2026-11-03.",
  },
  {
    id: "1007",
    picture: "coffee",
    customer: "Giulia Rinaldi",
    status: "shipped",
    placedOn: "2026-11-18",
    items: [
      { name: "Decaf, 500 g", quantity: 4, priceCents: 1390 },
      { name: "Cup with saucer", quantity: 4, priceCents: 890 },
    ],
    carrier: "DHL",
    trackingNumber: "JD014600009311",
    expectedOn: "2026-11-25",
    note: "Sent in two parcels; the cups follow.",
  },
  {
    id: "1008",
    picture: "tea",
    customer: "Hamid Rezaei",
    status: "delivered",
    placedOn: "2026-11-09",
    items: [{ name: "Earl Grey, 100 g", quantity: 2, priceCents: 790 }],
    carrier: "UPS",
    trackingNumber: "1Z999AA10123456784",
    deliveredOn: "2026-11-13",
    note: "Left with the neighbour on the ground floor.",
  },
  {
    id: "1009",
    picture: "gift",
    customer: "Ines Carvalho",
    status: "processing",
    placedOn: "2026-11-21",
    items: [{ name: "Gift card", quantity: 1, priceCents: 5000 }],
  },
  {
    id: "1010",
    picture: "tea",
    customer: "Jun Takahashi",
    status: "shipped",
    placedOn: "2026-11-10",
    items: [
      { name: "Matcha, 80 g", quantity: 2, priceCents: 2250 },
      { name: "Bamboo whisk", quantity: 1, priceCents: 1900 },
    ],
    carrier: "DHL",
    trackingNumber: "JD014600007770",
    expectedOn: "2026-11-19",
    note: "Two days late: held at customs since 2026-11-17.",
  },
  {
    id: "1011",
    picture: "coffee",
    customer: "Klara Nowak",
    status: "delivered",
    placedOn: "2026-10-30",
    items: [{ name: "Single origin Ethiopia, 250 g", quantity: 1, priceCents: 1150 }],
    carrier: "GLS",
    trackingNumber: "ZK39Q001",
    deliveredOn: "2026-11-04",
  },
  {
    id: "1012",
    picture: "coffee",
    customer: "Liam O'Connor",
    status: "processing",
    placedOn: "2026-11-19",
    items: [{ name: "House espresso, 1 kg", quantity: 12, priceCents: 2490 }],
    note: "Large order: ships on a pallet, the carrier will call to arrange a time.",
  },
];

export const ORDERS: readonly Order[] = DRAFTS.map((draft) => ({
  ...draft,
  totalCents: draft.items.reduce((sum, item) => sum + item.quantity * item.priceCents, 0),
  currency: "EUR",
}));

import type { StartBeside } from "../beside.ts";
import { shopPictures } from "./pictures.ts";
import { startShop } from "./shop-server.ts";

/** Sentences that the support bot understands with the demo model, too. */
export const SUGGESTIONS = [
  "What do you sell?",
  "Are you open today?",
  "track order 1001",
  "photos of the orders 1001 and 1003",
  "voice summary of order 1001",
  "draft an email about order 1002",
  "refund 60 € for order 1003",
  "remember that my size is M",
  "remind me to order coffee in 2 minutes",
];

/** The simulator's first two people are the shop's team: in a group they agree to refunds for each other. */
const TEAM = "100000001,100000002";

/** Starts the shop beside the support bot, unless the bot has a shop of its own. */
const startShopBeside: StartBeside = async ({ environment, isSimulated }) => {
  if ((environment.ORDERS_API_URL ?? "") !== "") return undefined;
  const shop = await startShop({ pictures: isSimulated });
  return {
    variables: { ORDERS_API_URL: shop.url, ...(isSimulated && { TEAM_USER_IDS: TEAM }) },
    addresses: { shop: shop.url },
    ...(isSimulated && { webFiles: shopPictures(), suggestions: SUGGESTIONS }),
    close: () => shop.close(),
  };
};

export default startShopBeside;

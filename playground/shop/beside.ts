import type { StartBeside } from "../beside.ts";
import { shopPictures } from "./pictures.ts";
import { startShop } from "./shop-server.ts";

/** Starts the shop beside the support bot, unless the bot has a shop of its own. */
const startShopBeside: StartBeside = async ({ environment, isSimulated }) => {
  if ((environment.ORDERS_API_URL ?? "") !== "") return undefined;
  const shop = await startShop({ pictures: isSimulated });
  return {
    variables: { ORDERS_API_URL: shop.url },
    addresses: { shop: shop.url },
    ...(isSimulated && { webFiles: shopPictures() }),
    close: () => shop.close(),
  };
};

export default startShopBeside;

import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { warehouseTools } from "./warehouse-tools.ts";

interface Env extends BotEnvironment {
  /** Address of the warehouse's bot, and a token that it has made: `switchboard token create buyer`. */
  WAREHOUSE_URL: string;
  WAREHOUSE_TOKEN: string;
}

/** Buys for people, in a chat. It uses the actions of another bot. */
export class BuyerBot extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getTools() {
    return warehouseTools(this.env.WAREHOUSE_URL, this.env.WAREHOUSE_TOKEN);
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(BuyerBot);

import { createWorker } from "switchboard";
import type { ThinkMessengers } from "switchboard/messengers";
import { EverywhereBot as Example } from "../../../../examples/everywhere/worker.ts";
import { reroute } from "../reroute.ts";

/** The example, whose adapters meet the emulators where they have an address of the platform inside. */
export class EverywhereBot extends Example {
  override getMessengers(): ThinkMessengers {
    reroute(JSON.parse(this.env.PLATFORM_ORIGINS ?? "{}") as Record<string, string>);
    return super.getMessengers();
  }
}

export default createWorker(EverywhereBot);

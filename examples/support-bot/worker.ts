import { createWorker } from "switchboard";
import { ThinkMessengerStateAgent } from "switchboard/messengers";
import { SupportAgent } from "./agent.ts";

export { SupportAgent, ThinkMessengerStateAgent };

export default createWorker(SupportAgent);

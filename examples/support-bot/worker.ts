import { createWorker } from "switchboard";
import { SupportAgent } from "./agent.ts";

export { SupportAgent };

export default createWorker(SupportAgent);

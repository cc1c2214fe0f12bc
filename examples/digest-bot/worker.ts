import { createWorker } from "switchboard";
import { DigestBot } from "./agent.ts";

export { DigestBot };

export default createWorker(DigestBot);

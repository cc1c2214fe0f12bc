import { checkContract } from "../suite.ts";
import { linearSessionsContract } from "./contract.ts";
import { LinearEmulator } from "./emulator.ts";

checkContract(linearSessionsContract, () => new LinearEmulator({ mode: "agent-sessions" }));

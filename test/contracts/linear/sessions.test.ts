import { checkContract } from "../suite.ts";
import { linearSessionsContract } from "./contract.ts";
import { LinearEmulator } from "./emulator.ts";
import { sessionRows, sessionRowsAlone } from "./own-rows.ts";

checkContract(
  linearSessionsContract,
  () => new LinearEmulator({ mode: "agent-sessions" }),
  sessionRows,
  sessionRowsAlone,
);

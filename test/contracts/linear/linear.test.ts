import { checkContract } from "../suite.ts";
import { linearContract } from "./contract.ts";
import { LinearEmulator } from "./emulator.ts";
import { ownRows } from "./own-rows.ts";

checkContract(linearContract, () => new LinearEmulator(), ownRows);

import { checkContract } from "../suite.ts";
import { linearContract } from "./contract.ts";
import { LinearEmulator } from "./emulator.ts";

checkContract(linearContract, () => new LinearEmulator());

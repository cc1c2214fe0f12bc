import { checkContract } from "../suite.ts";
import { teamsContract } from "./contract.ts";
import { TeamsEmulator } from "./emulator.ts";

checkContract(teamsContract, () => new TeamsEmulator());

import { checkContract } from "../suite.ts";
import { teamsContract } from "./contract.ts";
import { TeamsEmulator } from "./emulator.ts";
import { ownRows, ownRowsAlone } from "./own-rows.ts";

checkContract(teamsContract, () => new TeamsEmulator(), ownRows, ownRowsAlone);

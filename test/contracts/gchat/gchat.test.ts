import { checkContract } from "../suite.ts";
import { gchatContract } from "./contract.ts";
import { GoogleChatEmulator } from "./emulator.ts";

checkContract(gchatContract, () => new GoogleChatEmulator());

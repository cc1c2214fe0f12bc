import { checkContract } from "../suite.ts";
import { whatsappContract } from "./contract.ts";
import { WhatsAppEmulator } from "./emulator.ts";

checkContract(whatsappContract, () => new WhatsAppEmulator());

import { checkContract } from "../suite.ts";
import { whatsappContract } from "./contract.ts";
import { WhatsAppEmulator } from "./emulator.ts";
import { ownRows } from "./own-rows.ts";

checkContract(whatsappContract, () => new WhatsAppEmulator(), ownRows);

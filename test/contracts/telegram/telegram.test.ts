import { checkContract } from "../suite.ts";
import { telegramContract } from "./contract.ts";
import { TelegramEmulator } from "./emulator.ts";

checkContract(telegramContract, () => TelegramEmulator.start());

import { checkContract } from "../suite.ts";
import { discordContract } from "./contract.ts";
import { DiscordEmulator } from "./emulator.ts";
import { ownRows } from "./own-rows.ts";

checkContract(discordContract, () => new DiscordEmulator(), ownRows);

import { checkContract } from "../suite.ts";
import { discordContract } from "./contract.ts";
import { DiscordEmulator } from "./emulator.ts";

checkContract(discordContract, () => new DiscordEmulator());

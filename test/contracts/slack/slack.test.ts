import { checkContract } from "../suite.ts";
import { slackContract } from "./contract.ts";
import { SlackEmulator } from "./emulator.ts";

checkContract(slackContract, () => new SlackEmulator());

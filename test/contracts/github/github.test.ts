import { checkContract } from "../suite.ts";
import { githubContract } from "./contract.ts";
import { GitHubEmulator } from "./emulator.ts";

checkContract(githubContract, () => new GitHubEmulator());

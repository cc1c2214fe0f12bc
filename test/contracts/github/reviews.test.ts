import { checkContract } from "../suite.ts";
import { githubReviewsContract } from "./contract.ts";
import { GitHubEmulator } from "./emulator.ts";
import { appRows } from "./own-rows.ts";

checkContract(githubReviewsContract, () => new GitHubEmulator({ isReview: true, isApp: true }), appRows);

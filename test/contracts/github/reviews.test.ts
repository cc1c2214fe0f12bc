import { checkContract } from "../suite.ts";
import { githubReviewsContract } from "./contract.ts";
import { GitHubEmulator } from "./emulator.ts";

checkContract(githubReviewsContract, () => new GitHubEmulator({ isReview: true }));

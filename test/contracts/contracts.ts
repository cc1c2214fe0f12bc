import type { Contract } from "./expectation.ts";
import { discordContract } from "./discord/contract.ts";
import { gchatContract } from "./gchat/contract.ts";
import { githubContract, githubReviewsContract } from "./github/contract.ts";
import { linearContract, linearSessionsContract } from "./linear/contract.ts";
import { slackContract } from "./slack/contract.ts";
import { teamsContract } from "./teams/contract.ts";
import { telegramContract } from "./telegram/contract.ts";
import { whatsappContract } from "./whatsapp/contract.ts";

/** In the order of the documents. */
export const contracts: readonly Contract[] = [
  telegramContract,
  slackContract,
  whatsappContract,
  discordContract,
  teamsContract,
  githubContract,
  githubReviewsContract,
  gchatContract,
  linearContract,
  linearSessionsContract,
];

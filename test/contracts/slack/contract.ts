import type { Contract } from "../expectation.ts";

export const slackContract: Contract = {
  title: "Slack",
  expected: {},
};

import { expect, it } from "vitest";
import { closingLine, countTests } from "../../../scripts/test/report.ts";

const report = {
  success: false,
  numPassedTests: 7,
  numFailedTests: 1,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults: [{ status: "passed", assertionResults: [{}] }],
};

it("closes with the numbers of all projects", () => {
  expect(closingLine(countTests(report))).toBe("7 passed, 1 failed, 3 skipped");
});

it("counts a file that could not be loaded as a failure", () => {
  const broken = { ...report, numFailedTests: 0, testResults: [{ status: "failed", assertionResults: [] }] };
  expect(countTests(broken).failed).toBe(1);
});

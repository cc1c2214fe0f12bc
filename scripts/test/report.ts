import { readFile } from "node:fs/promises";

/** Numbers of tests over all projects of one run. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface VitestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/**
 * Counts the tests of a vitest JSON report. A file that failed before its first test counts as one failed test, because
 * the report does not list its tests.
 */
export function countTests(report: VitestReport): TestCounts {
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  ).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export async function readCounts(file: string): Promise<TestCounts> {
  return countTests(JSON.parse(await readFile(file, "utf8")) as VitestReport);
}

/** Returns the last line of a run, which machines read. */
export function closingLine(counts: TestCounts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

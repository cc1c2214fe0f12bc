import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take half a minute and more, most of which they wait. They begin first and run beside everything else, so
 * that none of them runs alone at the end.
 */
const TAKES_LONG =
  /\/e2e\/(?:crash\/|adapters|bots\/asking\/|faults|refunds)|\/browser\/(?:questions|schedules|sign-in|support-bot|typing)/;

export class LongFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(takesLong(b)) - Number(takesLong(a)));
  }
}

function takesLong({ moduleId }: TestSpecification): boolean {
  return TAKES_LONG.test(moduleId);
}

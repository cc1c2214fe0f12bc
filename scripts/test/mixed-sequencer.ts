import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take half a minute and more, most of which they wait. They begin first and run beside everything else, so
 * that none of them runs alone at the end.
 */
const TAKES_LONG =
  /\/e2e\/(?:crash\/|adapters|bots\/asking\/|faults|refunds)|\/browser\/(?:questions|schedules|sign-in|support-bot|typing)/;

/** Pages keep a processor busy. */
const BUSY = "/test/browser/";

/**
 * Mixes browser tests, which keep both cores busy, with end-to-end tests, which mostly wait. In a whole run both are of
 * one project: a worker goes on only with a file of the project of its last one, and a new one loads the product again.
 */
export class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groups = Map.groupBy(sorted, ({ project }) => project.config.sequence.groupOrder);
    return [...groups.values()].flatMap(mixed);
  }
}

/** Spreads the files of each kind evenly over the group. */
function mixed(group: readonly TestSpecification[]): TestSpecification[] {
  const kinds = Map.groupBy(group, ({ moduleId }) => moduleId.includes(BUSY));
  const placed = [...kinds.values()].flatMap((files) =>
    files
      .toSorted((a, b) => Number(takesLong(b)) - Number(takesLong(a)))
      .map((file, at) => ({ file, place: (at + 0.5) / files.length })),
  );
  return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
}

function takesLong({ moduleId }: TestSpecification): boolean {
  return TAKES_LONG.test(moduleId);
}

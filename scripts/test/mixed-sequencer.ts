import { BaseSequencer, type TestSpecification } from "vitest/node";

/** End-to-end tests of crashes wait longest, so they begin first and run beside everything else. */
const WAITS_LONGEST = "/e2e/crash/";

/**
 * Mixes the projects of a group. Vitest would run one project after the other: first the browser tests, which keep both
 * cores busy, and then the end-to-end tests, which mostly wait.
 */
export class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const groups = Map.groupBy(sorted, ({ project }) => project.config.sequence.groupOrder);
    return [...groups.values()].flatMap(mixed);
  }
}

/** Spreads the files of each project evenly over the group. */
function mixed(group: readonly TestSpecification[]): TestSpecification[] {
  const projects = Map.groupBy(group, ({ project }) => project.name);
  const placed = [...projects.values()].flatMap((files) =>
    files
      .toSorted((a, b) => Number(waits(b)) - Number(waits(a)))
      .map((file, at) => ({ file, place: (at + 0.5) / files.length })),
  );
  return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file);
}

function waits({ moduleId }: TestSpecification): boolean {
  return moduleId.includes(WAITS_LONGEST);
}

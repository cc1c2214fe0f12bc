import type { Contract, Expectation } from "./expectation.ts";
import type { Row } from "./row.ts";

const HEAD = `# What people get on each platform

<!-- Made by \`npm run reference\` from \`test/contracts/\`, which checks it with a bot on an emulator of each platform. -->

- ✓ works
- (✓) less than elsewhere: a note below says how
- – not possible there
- ✗ wrong today, and to be mended
`;

const SIGNS: Readonly<Record<Expectation["kind"], string>> = { degraded: "(✓)", cannot: "–", broken: "✗" };

function signOf(expectation: Expectation | undefined): string {
  return expectation === undefined ? "✓" : SIGNS[expectation.kind];
}

/** Returns the page of the documents that tells what works on which platform. Rows without an expectation work. */
export function capabilityMatrix(rows: readonly Row[], contracts: readonly Contract[]): string {
  const table = [
    `| | ${contracts.map(({ title }) => title).join(" | ")} |`,
    `| --- |${" --- |".repeat(contracts.length)}`,
    ...rows.map(
      ({ key, title }) =>
        `| ${title} | ${contracts.map(({ expected }) => signOf(expected[key])).join(" | ")} |`,
    ),
  ];
  const notes = contracts.map(({ expected, title }) => {
    const lines = rows.flatMap((row) => {
      const expectation = expected[row.key];
      return expectation === undefined ? [] : [`- ${signOf(expectation)} ${row.title}: ${expectation.words}`];
    });
    return `## ${title}\n\n${lines.length === 0 ? "Everything works." : lines.join("\n")}\n`;
  });
  return `${HEAD}\n${table.join("\n")}\n\n${notes.join("\n")}`;
}

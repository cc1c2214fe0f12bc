import { installedPackages } from "./installed-packages.ts";

/** Returns the page that lists packages and licences. */
export function licencesPage(lock: unknown): string {
  const packages = installedPackages(lock);
  const counts = new Map<string, number>();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const summary = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([licence, count]) => `- ${licence}: ${count}`);
  return [
    "# Licences",
    "",
    "Switchboard is under the MIT licence. `npm run licences` writes this page from `package-lock.json`. It lists all packages",
    "that are installed with Switchboard, also those for other systems. A bot's bundle has few of them.",
    "",
    ...summary,
    "",
    "| Package | Version | Licence |",
    "| --- | --- | --- |",
    ...packages.map(({ licence, name, version }) => `| \`${name}\` | ${version} | ${licence} |`),
    "",
  ].join("\n");
}

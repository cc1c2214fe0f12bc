import { z } from "zod";

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().default(false),
    }),
  ),
});

/** A package that is installed with Switchboard. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/** Returns the packages of a lock file that are not for development only, by name. */
export function installedPackages(lock: unknown): readonly InstalledPackage[] {
  const packages = Object.entries(lockSchema.parse(lock).packages).flatMap(([place, entry]) =>
    place === "" || entry.dev
      ? []
      : [
          {
            name: place.replace(/^.*node_modules\//, ""),
            version: entry.version ?? "",
            licence: entry.license ?? "unknown",
          },
        ],
  );
  const unique = new Map(packages.map((it) => [`${it.name} ${it.version}`, it]));
  return [...unique.values()].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

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

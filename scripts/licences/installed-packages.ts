import { z } from "zod";

const namesSchema = z.record(z.string(), z.string()).default({});

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dependencies: namesSchema,
      optionalDependencies: namesSchema,
      peerDependencies: namesSchema,
      peerDependenciesMeta: z
        .record(z.string(), z.object({ optional: z.boolean().default(false) }))
        .default({}),
    }),
  ),
});

type Packages = z.infer<typeof lockSchema>["packages"];

/** A package that is installed with Switchboard. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/** Returns the packages of a lock file that npm installs with Switchboard, with their peers, by name. */
export function installedPackages(lock: unknown): readonly InstalledPackage[] {
  const { packages } = lockSchema.parse(lock);
  const places = new Set([""]);
  for (const place of places) for (const next of neededBy(place, packages)) places.add(next);
  places.delete("");
  const found = [...places].map((place) => ({
    name: place.replace(/^.*node_modules\//, ""),
    version: packages[place]?.version ?? "",
    licence: packages[place]?.license ?? "unknown",
  }));
  const unique = new Map(found.map((it) => [`${it.name} ${it.version}`, it]));
  return [...unique.values()].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Returns the places of the packages that one needs. */
function neededBy(place: string, packages: Packages): readonly string[] {
  const needs = packages[place];
  if (needs === undefined) return [];
  const peers = Object.keys(needs.peerDependencies).filter(
    (name) => needs.peerDependenciesMeta[name]?.optional !== true,
  );
  const names = [...Object.keys(needs.dependencies), ...Object.keys(needs.optionalDependencies), ...peers];
  return names.flatMap((name) => placeOf(name, place, packages) ?? []);
}

/** Finds a package as Node does: in the folder of the package that asks for it, then in those around it. */
function placeOf(name: string, from: string, packages: Packages): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const place = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (folder === "") return undefined;
  }
}

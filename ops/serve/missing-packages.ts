import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Message } from "esbuild";

/** Returns the name of the package that an error of the bundler misses. Undefined if it is about something else. */
export function missingPackage({ text }: Pick<Message, "text">): string | undefined {
  return /^Could not resolve "((?:@[^/"]+\/)?[^./"#][^/":]*)[^":]*"$/.exec(text)?.[1];
}

/** Returns the command that installs the packages that errors of the bundler miss. Undefined if they miss none. */
export function installCommand(errors: readonly Message[]): string | undefined {
  const missing = new Set<string>();
  for (const error of errors) {
    const name = missingPackage(error);
    if (name !== undefined) missing.add(`${name}${versionFor(name, error)}`);
  }
  return missing.size === 0 ? undefined : `npm install ${[...missing].join(" ")}`;
}

/** Returns the version that the importing package asks for, if it asks for one only. */
function versionFor(name: string, { location }: Message): string {
  for (let folder = path.resolve(location?.file ?? ""); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "package.json");
    if (existsSync(file)) {
      const { peerDependencies = {} } = JSON.parse(readFileSync(file, "utf8")) as {
        readonly peerDependencies?: Readonly<Record<string, string>>;
      };
      const version = peerDependencies[name];
      return version !== undefined && /^\d/.test(version) ? `@${version}` : "";
    }
    if (folder === path.dirname(folder)) return "";
  }
}

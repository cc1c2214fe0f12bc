// The command loads this file before all others, also on an old Node. So it imports nothing.

/** Oldest Node that has all modules that the commands need: `node:sqlite` without a flag. */
export const LEAST_NODE = "22.13.0";

/** Returns one sentence if a version of Node is too old. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = numbersOf(version);
  const [leastMajor = 0, leastMinor = 0] = numbersOf(LEAST_NODE);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `Switchboard needs Node ${LEAST_NODE} or newer, and this is Node ${version}. Install a newer one from https://nodejs.org.`;
}

function numbersOf(version: string): readonly number[] {
  return version.replace(/^v/, "").split(".").map(Number);
}

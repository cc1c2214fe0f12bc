/** Variable that says that the suites of one platform alone run. */
export const ONE_PLATFORM = "ONE_PLATFORM";

/**
 * Has a run of one platform's suites build a bot with its adapter alone, in less than half of the time. Runs of several
 * share one build with all of them.
 */
export default function buildForOne(): void {
  const asked = process.argv.flatMap((argument) => /\bcontracts\/(\w+)/.exec(argument)?.[1] ?? []);
  if (new Set(asked).size === 1) process.env[ONE_PLATFORM] = "true";
}

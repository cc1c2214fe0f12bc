/** Ids of calls that code of a model makes, and not the model itself. The run of the code tells their outcome. */
const CODE = "code:";

/** Returns the id of the call at a place of a run. */
export function codeCallId(run: string, position: number): string {
  return `${CODE}${run}:${position}`;
}

export function isCodeCall(toolCallId: string): boolean {
  return toolCallId.startsWith(CODE);
}

/** Returns the run and the place of a call of code. */
export function codeCallOf(toolCallId: string): { readonly run: string; readonly position: number } {
  const [, run = "", position] = toolCallId.split(":");
  return { run, position: Number(position) };
}

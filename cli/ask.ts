import type { CommandIo } from "./command-io.ts";

/** Asks a person yes or no. Without a terminal nobody can be asked, and the answer is no. */
export async function askYesNo(io: Pick<CommandIo, "isInteractive">, question: string): Promise<boolean> {
  if (!io.isInteractive) return false;
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false });
  return !isCancel(answer) && answer;
}

/** One instruction of a Dockerfile, such as `RUN npm ci`. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Reads the instructions of a Dockerfile, one list for each stage. Lines that go on are joined. */
export function stagesOf(dockerfile: string): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = [];
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  for (const line of lines) {
    const [, name, text] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, text });
  }
  return stages;
}

/** Returns the words of a command in JSON form, such as `["node", "bot.js"]`. */
export function wordsOf(command: string): readonly string[] {
  return JSON.parse(command.slice(command.indexOf("["))) as string[];
}

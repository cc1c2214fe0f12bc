/** Files that skills and their scripts may read: `this.workspace` has these methods. */
export interface SkillFiles {
  stat(path: string): FoundFile | undefined | Promise<FoundFile | undefined>;
  readFile(path: string): Promise<Uint8Array>;
  listFiles(folder?: string): readonly FoundFile[] | Promise<readonly FoundFile[]>;
  writeFile(path: string, content: string): Promise<unknown>;
}

interface FoundFile {
  readonly path: string;
  readonly sizeBytes: number;
}

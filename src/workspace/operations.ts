/** Facts about a file. */
export interface FileStat {
  /** Absolute, such as `/notes/plan.md`. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  /** Epoch milliseconds. */
  readonly changedAt: number;
  /** SHA-256 of its bytes, as hexadecimal digits. */
  readonly hash: string;
  /** The person who sent it, or whose request wrote it last. Undefined if the bot's own code wrote it. */
  readonly person?: { readonly userId: string; readonly name: string } | undefined;
}

/** Reads files. Folders are there as long as a file is in them. */
export interface ReadOperations {
  /** Undefined if there is no such file. */
  stat(path: string): FileStat | undefined | Promise<FileStat | undefined>;
  /** @throws {SwitchboardError} `workspace-no-file` */
  readFile(path: string): Promise<Uint8Array>;
  /** Returns the files below a folder, by path. */
  listFiles(folder?: string): readonly FileStat[] | Promise<readonly FileStat[]>;
}

/** Changes files. Each call happens as a whole or not at all. */
export interface WriteOperations {
  /** Writes a whole file. */
  writeFile(path: string, content: string | Uint8Array): Promise<FileStat>;
  /**
   * Changes the text of a file. `change` may be called again if the file has changed meanwhile; it returns the whole text.
   *
   * @throws {SwitchboardError} `workspace-no-file`, `workspace-not-text`
   */
  editFile(path: string, change: (text: string) => string): Promise<FileStat>;
  /** Deletes a file, or all files of a folder. Returns their paths. */
  deleteFiles(path: string): readonly string[] | Promise<readonly string[]>;
}

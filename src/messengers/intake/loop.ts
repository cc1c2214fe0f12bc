/** The loop that does the stored work of a conversation. */
export interface Loop {
  /** Starts the loop, or makes a running loop go around once more. */
  poke(): void;
}

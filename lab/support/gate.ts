/** A point where a script waits for its test, so that the test holds a stream in the middle without sleeping. */
export interface Gate {
  /** Settles when a script has reached the gate and everything before it was sent. */
  readonly reached: Promise<void>;
  /** Settles when the gate is open. */
  readonly opened: Promise<void>;
  /** Lets the script continue, also one that arrives later. */
  open(): void;
  /** For the script: reports its arrival, and waits. */
  pass(): Promise<void>;
}

export function createGate(): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    opened: opened.promise,
    open: () => opened.resolve(),
    pass: () => {
      reached.resolve();
      return opened.promise;
    },
  };
}

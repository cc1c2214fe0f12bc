/** Things that a condition looks at beside the simulator, such as requests of a model, are looked at so often. */
const LOOK_AGAIN_MS = 100;

/** Calls its listeners after every change. Waits end with the change itself. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();

  emit(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        stop();
        resolve();
      });
    });
  }

  /**
   * Resolves as soon as `predicate` holds.
   * @throws {Error} after `timeoutMs` of real time
   */
  async waitFor(predicate: () => boolean, timeoutMs: number, describe: () => string): Promise<void> {
    if (predicate()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      try {
        if (predicate()) resolve();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const stop = this.subscribe(check);
    const looks = setInterval(check, LOOK_AGAIN_MS);
    const timer = setTimeout(
      () => reject(new Error(`Waited ${timeoutMs} ms for ${predicate.toString()}\n${describe()}`)),
      timeoutMs,
    );
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      clearInterval(looks);
      stop();
    }
  }
}

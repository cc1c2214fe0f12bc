/** Work that begins in the order in which it comes, each when the work before it has ended. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** @param signal of the work: aborted, it keeps nobody waiting, also if it never settles */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    signal.addEventListener("abort", () => resolve(), { once: true });
    try {
      await before;
      signal.throwIfAborted();
      return await work();
    } finally {
      resolve();
    }
  }
}

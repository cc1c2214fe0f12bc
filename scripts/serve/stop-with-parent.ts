/**
 * Ends a server with the process that started it. npm passes on SIGTERM, but when npm itself is killed nothing
 * tells its script; and a caller that asks for it holds our standard input open as long as it lives.
 */
export function stopWithParent(options: { readonly stdin: boolean; readonly stop: () => void }): void {
  const { stdin, stop } = options;
  if (stdin) {
    process.stdin.resume();
    process.stdin.on("end", stop);
    process.stdin.on("error", stop);
  }
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) stop();
    }, 500).unref();
  }
}

const PARTS = ["approvals", "broadcasts", "deliveries", "schedules"];

type Part = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

/**
 * Lets a test call the parts of an object, such as `stub.deliveries.list()`, as every Worker may
 * (`test/e2e/parts.test.ts`). The test pool wraps the classes of objects, and its wrapper has a part only for those who
 * wait for it.
 */
export function pipelined<Stub extends object>(stub: Stub): Stub {
  for (const name of PARTS) {
    // A property of a stub is read again for each that waits for it.
    const part = Reflect.get(stub, name) as Promise<Part>;
    Object.defineProperty(stub, name, { value: partOf(part) });
  }
  return stub;
}

function partOf(part: Promise<Part>): object {
  const get = (_: object, method: string): unknown =>
    method === "then"
      ? part.then.bind(part)
      : async (...args: readonly unknown[]) => (await part)[method]?.(...args);
  return new Proxy({}, { get });
}

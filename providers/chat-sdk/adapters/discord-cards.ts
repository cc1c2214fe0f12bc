import type { Adapter } from "chat";

/** A message as the adapter sends it. Of an edit, Discord keeps what it does not name. */
interface Built {
  readonly payload: { components?: readonly unknown[] };
}
type Build = (message: unknown, options?: { readonly clearContentForCard?: boolean }) => Built;

/** Lets an edit without buttons remove those of the message. */
export function removeOldButtons(adapter: Adapter): void {
  const build: unknown = Reflect.get(adapter, "buildMessagePayload");
  if (!isBuild(build)) return;
  const buildWhole: Build = (message, options) => {
    const built = build.call(adapter, message, options);
    // Only edits clear the text.
    if (options?.clearContentForCard === true) built.payload.components ??= [];
    return built;
  };
  Reflect.set(adapter, "buildMessagePayload", buildWhole);
}

function isBuild(value: unknown): value is Build {
  return typeof value === "function";
}

import type { RichText, TextLimits } from "../../src/core/message/rich-text.ts";
import type { RichMessages } from "../../src/core/chat/surface.ts";
import { FakeFailure } from "./fake-platform.ts";
import { richFaults } from "./rich-faults.ts";

/** Refuses a text as a platform does: an empty or long one, and formatting that lies outside of it. */
export function checkFakeText(
  { text, entities, blocks }: RichText,
  {
    limits,
    refusal,
    rich,
  }: {
    readonly limits: TextLimits;
    readonly refusal: string | undefined;
    readonly rich: RichMessages | undefined;
  },
): void {
  if (text.trim() === "") throw new FakeFailure({ kind: "rejected", code: "empty" });
  if (blocks !== undefined) {
    const code = rich === undefined ? "rich-unsupported" : refusal;
    if (code !== undefined) throw new FakeFailure({ kind: "rejected", code });
    const faults = richFaults(blocks, rich?.limits ?? limits);
    if (faults.length > 0) throw new FakeFailure({ kind: "rejected", code: faults.join() });
    return;
  }
  if (text.length > limits.maxLength) throw new FakeFailure({ kind: "rejected", code: "too-long" });
  if (entities.some(({ offset, length }) => offset < 0 || length < 1 || offset + length > text.length)) {
    throw new FakeFailure({ kind: "rejected", code: "entities" });
  }
}

import { fromBase64, toBase64 } from "../core/bytes/base64.ts";
import { isRecord } from "../core/json/is-record.ts";

/** Marks bytes in JSON, as `@cloudflare/codemode` does. */
const BINARY_TAG = "__codemode_binary_v1__";

/**
 * Returns a value as JSON with bytes in it. Undefined for a value that JSON does not know.
 *
 * @throws {TypeError} for a circle or a bigint
 * @throws {RangeError} for a value that is nested too deep
 */
export function toWire(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (ArrayBuffer.isView(inner)) {
      const kind = inner instanceof Uint8Array ? "Uint8Array" : "ArrayBufferView";
      const bytes = new Uint8Array(inner.buffer, inner.byteOffset, inner.byteLength);
      return { [BINARY_TAG]: kind, data: toBase64(bytes) };
    }
    if (inner instanceof ArrayBuffer)
      return { [BINARY_TAG]: "ArrayBuffer", data: toBase64(new Uint8Array(inner)) };
    return inner;
  });
}

/** @throws {SyntaxError} if the text is no JSON */
export function fromWire(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  return JSON.parse(text, (_key, inner: unknown) => {
    if (!isRecord(inner) || typeof inner[BINARY_TAG] !== "string" || typeof inner.data !== "string")
      return inner;
    const bytes = fromBase64(inner.data);
    return inner[BINARY_TAG] === "ArrayBuffer" ? bytes.buffer : bytes;
  });
}

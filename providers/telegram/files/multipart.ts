import { SwitchboardError } from "../../../src/core/base/errors.ts";
import { streamOf } from "../../../src/core/bytes/stream-of.ts";

/** A file of a multipart body. Its bytes are read together with the body, and never all in memory. */
export interface UploadPart {
  /** Name of the field. */
  readonly name: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly open: () => ReadableStream<Uint8Array>;
}

/** How a body is read. */
export interface Reading {
  readonly signal: AbortSignal;
  /** Called with each piece, and with `true` before the last one. */
  readonly onSent?: ((isWhole: boolean) => void) | undefined;
}

export interface MultipartBody {
  readonly contentType: string;
  /** Length of the whole body, in bytes. */
  readonly sizeBytes: number;
  readonly stream: ReadableStream<Uint8Array>;
}

const encoder = new TextEncoder();
const LINE = "\r\n";
/** Most bytes of a piece. A slow connection still takes one every few seconds. */
const PIECE_BYTES = 128 * 1024;

/**
 * Returns a `multipart/form-data` body as a stream of known length. The boundary must not occur in any part, so pass a
 * random one. The connection takes a piece when the earlier ones have left.
 *
 * @throws {SwitchboardError} `file-incomplete`, in the stream, if the size of a file is not the declared one
 */
export function multipartBody(
  fields: Readonly<Record<string, string>>,
  files: readonly UploadPart[],
  boundary: string,
  { onSent, signal }: Reading,
): MultipartBody {
  const values = Object.entries(fields).map(([name, value]) =>
    encoder.encode(
      `--${boundary}${LINE}content-disposition: form-data; name="${name}"${LINE}${LINE}${value}${LINE}`,
    ),
  );
  const heads = files.map(({ fileName, mediaType, name }) =>
    encoder.encode(
      `--${boundary}${LINE}content-disposition: form-data; name="${name}"; filename="${quoted(fileName)}"${LINE}` +
        `content-type: ${mediaType}${LINE}${LINE}`,
    ),
  );
  const end = encoder.encode(`--${boundary}--${LINE}`);
  const sizeBytes =
    sum(values.map(({ length }) => length)) +
    sum(heads.map(({ length }) => length)) +
    sum(files.map((file) => file.sizeBytes + LINE.length)) +
    end.length;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield* values;
    for (const [index, file] of files.entries()) {
      const head = heads[index];
      if (head !== undefined) yield head;
      for await (const piece of wholeFile(file)) {
        onSent?.(false);
        yield piece;
      }
      yield encoder.encode(LINE);
    }
    // After the call has ended, its body must not become complete.
    signal.throwIfAborted();
    onSent?.(true);
    yield end;
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, sizeBytes, stream: streamOf(pieces()) };
}

async function* wholeFile({ open, sizeBytes }: UploadPart): AsyncGenerator<Uint8Array> {
  const reader = open().getReader();
  let left = sizeBytes;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      left -= value.length;
      if (left < 0) break;
      for (let at = 0; at < value.length; at += PIECE_BYTES) yield value.subarray(at, at + PIECE_BYTES);
    }
  } finally {
    // A reader that stops in the middle does not need the rest.
    await reader.cancel().catch(() => undefined);
  }
  if (left !== 0)
    throw new SwitchboardError(
      "file-incomplete",
      `A file has not the ${sizeBytes} bytes that it was stored with.`,
    );
}

/** Returns a name in quotes, as browsers write it. */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll(/[\r\n]/g, " ");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

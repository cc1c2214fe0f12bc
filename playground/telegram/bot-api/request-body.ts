import { badRequest } from "./bot-api-error.ts";

export interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly mimeType: string;
}

/** The parameters of one call as they arrived: JSON values or strings from forms, and the files. */
export interface RawParameters {
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: ReadonlyMap<string, UploadedFile>;
}

/**
 * Reads the body of a call.
 * @throws {BotApiError} when the body does not match its content type
 */
export function parseBody(contentType: string, body: Buffer, query: URLSearchParams): RawParameters {
  const values: Record<string, unknown> = Object.fromEntries(query);
  const files = new Map<string, UploadedFile>();
  const type = contentType.toLowerCase();
  if (body.length === 0) return { values, files };
  if (type.startsWith("application/json")) {
    const parsed = parseJson(body.toString());
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
      throw badRequest("can't parse JSON object");
    }
    Object.assign(values, parsed);
  } else if (type.startsWith("application/x-www-form-urlencoded")) {
    Object.assign(values, Object.fromEntries(new URLSearchParams(body.toString())));
  } else if (type.startsWith("multipart/form-data")) {
    const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
    const mark = boundary?.[1] ?? boundary?.[2];
    if (mark === undefined) throw badRequest("can't parse multipart body: boundary not found");
    for (const part of splitParts(body, mark)) {
      if (part.fileName === undefined) values[part.name] = part.content.toString();
      else {
        files.set(part.name, {
          bytes: Uint8Array.from(part.content),
          fileName: part.fileName,
          mimeType: part.mimeType ?? "application/octet-stream",
        });
      }
    }
  }
  return { values, files };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("can't parse JSON object"); // the caller's text is not JSON
  }
}

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly mimeType: string | undefined;
  readonly content: Buffer;
}

function* splitParts(body: Buffer, boundary: string): Generator<Part> {
  const mark = Buffer.from(`--${boundary}`);
  let start = body.indexOf(mark);
  while (start !== -1) {
    const head = start + mark.length;
    if (body.subarray(head, head + 2).toString() === "--") return;
    const end = body.indexOf(Buffer.concat([Buffer.from("\r\n"), mark]), head);
    if (end === -1) throw badRequest("can't parse multipart body: unexpected end");
    const blank = body.indexOf("\r\n\r\n", head);
    if (blank !== -1 && blank < end) {
      const headers = body.subarray(head, blank).toString();
      const disposition = /content-disposition:[^\r\n]*/i.exec(headers)?.[0] ?? "";
      const name = /[;\s]name="?([^";\r\n]*)"?/i.exec(disposition)?.[1];
      if (name !== undefined) {
        yield {
          name,
          fileName: fileNameOf(disposition),
          mimeType: /content-type:\s*([^\r\n;]+)/i.exec(headers)?.[1]?.trim(),
          content: body.subarray(blank + 4, end),
        };
      }
    }
    start = end + 2;
  }
}

/** A quoted name may have a semicolon in it. */
function fileNameOf(disposition: string): string | undefined {
  const found = /filename=(?:"([^"\r\n]*)"|([^";\r\n]*))/i.exec(disposition);
  return found?.[1] ?? found?.[2];
}

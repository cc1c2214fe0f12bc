import type { z } from "zod";
import type { Clock } from "../base/deps.ts";
import { problem } from "../web/problem.ts";
import { MAX_BODY_BYTES, readBody } from "../web/read-body.ts";
import { parseJson } from "./parse-json.ts";

/** Reads the JSON body of a request. Returns the response that refuses it, if it cannot be read. */
export async function readJson(
  request: Request,
  clock: Clock,
): Promise<{ readonly json: unknown } | Response> {
  const body = await readBody(request, clock);
  if (body === "too-large")
    return problem(413, "body-too-large", `The body may have ${MAX_BODY_BYTES} bytes at most.`);
  if (body === "too-slow") return problem(408, "body-too-slow", "The body of the request took too long.");
  const json = parseJson(new TextDecoder().decode(body));
  return json === undefined ? problem(400, "body-invalid", "Send a body in JSON.") : { json };
}

/**
 * Reads the JSON body of a request that follows a schema. Returns the response that refuses it, if it does not.
 *
 * @param refusal the code of that response, and its message, which says what to send
 */
export async function readChecked<Schema extends z.ZodType>(
  request: Request,
  clock: Clock,
  schema: Schema,
  refusal: { readonly code: string; readonly message: string },
): Promise<{ readonly body: z.output<Schema> } | Response> {
  const read = await readJson(request, clock);
  if (read instanceof Response) return read;
  const parsed = schema.safeParse(read.json);
  return parsed.success ? { body: parsed.data } : problem(400, refusal.code, refusal.message);
}

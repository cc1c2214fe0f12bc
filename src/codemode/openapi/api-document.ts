import { z } from "zod";
import { ConfigurationError } from "../../core/base/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { isDeeperThan } from "../../core/json/json-depth.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { shortLine } from "../../core/text/short-line.ts";

/** Deepest nesting of a document. One with circles has no end. */
const MOST_DEPTH = 64;
/** Most references in a row. */
const MOST_HOPS = 32;
/** Longest name in an error. */
const MOST_WORDS = 120;
const READS: ReadonlySet<string> = new Set(["get", "head"]);
const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"] as const;

/** Mistakes beside the parameters and the body end nothing: words, and types that only the model reads. */
const WORDS = z.string().optional().catch(undefined);

const documentSchema = z.object({
  openapi: z.string().regex(/^3\.[01](?:\.|$)/),
  paths: z.record(z.string(), z.unknown()).default({}),
});

const parameterSchema = z.object({
  name: z.string().min(1),
  in: z.enum(["path", "query", "header", "cookie"]),
  required: z.boolean().default(false),
  description: WORDS,
  style: z.string().optional(),
  explode: z.boolean().optional(),
  schema: z.unknown().optional(),
  content: z.record(z.string(), z.unknown()).optional(),
});

const operationSchema = z.object({
  operationId: WORDS,
  summary: WORDS,
  description: WORDS,
  tags: z.array(z.string()).catch([]),
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.unknown()).catch({}),
});

const bodySchema = z.object({
  description: WORDS,
  required: z.boolean().default(false),
  content: z.record(z.string(), z.unknown()).default({}),
});

export type ApiParameter = z.output<typeof parameterSchema>;
export type ApiBody = z.output<typeof bodySchema>;

/** One operation of a document, before it is a tool. */
export interface ApiOperation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly isRead: boolean;
  readonly declared: z.output<typeof operationSchema>;
  /** The parameters of the path item, which those of the operation replace. */
  readonly shared: readonly unknown[];
}

/**
 * An OpenAPI 3.0 or 3.1 document. References are followed inside of it only: nothing is fetched, so a document cannot
 * make the bot call an address.
 */
export class ApiDocument {
  readonly #root: unknown;
  readonly #paths: Readonly<Record<string, unknown>>;

  /**
   * @param given the document, or its JSON
   * @throws {ConfigurationError} `openapi-document`
   */
  constructor(given: unknown) {
    this.#root = typeof given === "string" ? parseJson(given) : given;
    if (this.#root === undefined)
      throw refused("is no JSON. Convert YAML to JSON when you build the bot, and give that.");
    if (isDeeperThan(this.#root, MOST_DEPTH))
      throw refused(`is nested more than ${MOST_DEPTH} deep, or has circles. Give it with its $ref.`);
    const parsed = documentSchema.safeParse(this.#root);
    if (!parsed.success) throw refused("is not one of version 3.0 or 3.1. Convert it to one.");
    this.#paths = parsed.data.paths;
  }

  /** @throws {ConfigurationError} `openapi-document` */
  operations(): readonly ApiOperation[] {
    return Object.entries(this.#paths).flatMap(([path, item]) => {
      const found = this.resolve(item);
      if (!path.startsWith("/") || !isRecord(found)) return [];
      const shared = Array.isArray(found["parameters"]) ? (found["parameters"] as unknown[]) : [];
      return METHODS.filter((method) => isRecord(found[method])).map((method) => ({
        method: method.toUpperCase(),
        path,
        isRead: READS.has(method),
        declared: checked(operationSchema, found[method], `${method.toUpperCase()} ${path}`),
        shared,
      }));
    });
  }

  /** Returns the parameters of an operation. A parameter is named by its place and its name. */
  parametersOf({ declared, method, path, shared }: ApiOperation): readonly ApiParameter[] {
    const all = [...shared, ...declared.parameters].map((one) =>
      checked(parameterSchema, this.resolve(one), `a parameter of ${method} ${path}`),
    );
    return [...new Map(all.map((one) => [`${one.in} ${one.name}`, one])).values()];
  }

  bodyOf({ declared, method, path }: ApiOperation): ApiBody | undefined {
    const found = this.resolve(declared.requestBody);
    return found === undefined ? undefined : checked(bodySchema, found, `the body of ${method} ${path}`);
  }

  /** Returns the schema of the answer in JSON to a call that has worked. */
  answerOf({ declared: { responses } }: ApiOperation): unknown {
    const status = Object.keys(responses).find((one) => /^2(?:\d\d|XX)$/i.test(one));
    const found = status === undefined ? undefined : this.resolve(responses[status]);
    const { content } = isRecord(found) ? found : {};
    return isRecord(content)
      ? this.schemaIn(Object.entries(content).find(([type]) => isJson(type))?.[1])
      : undefined;
  }

  /** Returns the schema of a media type. */
  schemaIn(mediaType: unknown): unknown {
    const found = this.resolve(mediaType);
    return isRecord(found) ? found["schema"] : undefined;
  }

  /**
   * Returns what a reference stands for, and all else as it is.
   *
   * @throws {ConfigurationError} `openapi-reference`
   */
  resolve(value: unknown): unknown {
    let found = value;
    for (let hops = 0; hops <= MOST_HOPS; hops += 1) {
      if (!isRecord(found) || typeof found["$ref"] !== "string") return found;
      found = this.#target(found["$ref"]);
    }
    throw unresolved(String((value as { readonly $ref: unknown }).$ref), "leads back to itself");
  }

  #target(reference: string): unknown {
    if (!reference.startsWith("#/"))
      throw unresolved(reference, "leads out of the document, and nothing is fetched");
    let found = this.#root;
    for (const token of reference.slice(2).split("/")) {
      const key = decoded(token).replaceAll("~1", "/").replaceAll("~0", "~");
      if (!isRecord(found) || !Object.hasOwn(found, key)) throw unresolved(reference, "leads to nothing");
      found = found[key];
    }
    return found;
  }
}

/** Whether a media type is JSON. */
export function isJson(mediaType: string): boolean {
  return /^(?:application\/json|[^;]+\+json)\s*(?:;|$)/i.test(mediaType);
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    // A percent sign that encodes nothing.
    return token;
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refused(
    `is not valid at ${shortLine(where, MOST_WORDS)}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
  );
}

function refused(why: string): ConfigurationError {
  return new ConfigurationError("openapi-document", `The OpenAPI document of a connector ${why}`);
}

function unresolved(reference: string, why: string): ConfigurationError {
  return new ConfigurationError(
    "openapi-reference",
    `The reference "${shortLine(reference, MOST_WORDS)}" of an OpenAPI document ${why}. Bundle the document into one, or leave its operation out with includes().`,
  );
}

import { systemDeps } from "../../core/base/deps.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { sha256Now } from "../../core/bytes/sha256.ts";
import { shortLine } from "../../core/text/short-line.ts";
import { codeObject } from "../bot-objects.ts";
import { CodemodeConnector } from "../connector.ts";
import type { ConnectorTool, ConnectorTools, ToolExecuteContext } from "../connector-tool.ts";
import { ApiDocument } from "./api-document.ts";
import type { ApiOperation } from "./api-document.ts";
import { SchemaConversion } from "./convert-schema.ts";
import { fillRequest } from "./fill-request.ts";
import { missingPartsOf, operationInput } from "./operation-input.ts";
import type { MissingPart } from "./operation-input.ts";
import { operationNames } from "./operation-names.ts";
import { sendRequest } from "./openapi-request.ts";
import type { OpenApiCredentials, OpenApiRequestOptions } from "./openapi-request.ts";

/** One operation of a document. */
export interface OpenApiOperation {
  /** The name in code. */
  readonly name: string;
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly tags: readonly string[];
}

/** More operations would fill the model's context with their types. */
const MOST_OPERATIONS = 200;
const LONGEST_WORDS = 300;

/**
 * The operations of an OpenAPI 3.0 or 3.1 document as tools for code. Each has one argument: an object with the parameters
 * of the path, the query and the headers, and `body`. GET and HEAD only read. Each other operation needs a person's
 * consent, unless `tool` says otherwise.
 *
 * @example
 * class ShopConnector extends OpenApiConnector<Env> {
 *   name() { return "shop"; }
 *   protected spec() { return shopDocument; }
 *   protected override baseUrl() { return "https://api.shop.example/v1"; }
 *   protected override credentials() { return { headers: { authorization: `Bearer ${this.env.SHOP_TOKEN}` } }; }
 *   protected override tool(name: string, t: ConnectorTool) {
 *     return name === "add_note" ? { ...t, requiresApproval: false } : t;
 *   }
 * }
 */
export abstract class OpenApiConnector<Env = unknown> extends CodemodeConnector<Env> {
  /** Returns the document, or its JSON. Its `servers` are not used, and references out of it are errors. */
  protected abstract spec(): object | string | Promise<object | string>;

  /** Returns the address below which all paths are: neither the document nor a model can choose another. */
  protected baseUrl(): string {
    throw new ConfigurationError(
      "openapi-base-url",
      `The connector "${this.name()}" does not say where its service is. Give it baseUrl().`,
    );
  }

  /**
   * Returns the access for one call, for instance that of `ctx.person`. It is sent to `baseUrl` only, and hidden in all
   * answers.
   *
   * @default none
   */
  protected credentials(_ctx?: ToolExecuteContext): OpenApiCredentials | Promise<OpenApiCredentials> {
    return {};
  }

  /** Whether code has an operation. At most 200 can be there. @default all */
  protected includes(_operation: OpenApiOperation): boolean {
    return true;
  }

  /**
   * The header in which the service expects a key for each change, for instance `Idempotency-Key`. With it a call that was
   * interrupted is made again. Without it nobody knows its outcome.
   *
   * @default none
   */
  protected idempotencyHeader(): string | undefined {
    return undefined;
  }

  /** Largest answer, in bytes. @default 262144 */
  protected maxResultBytes(): number {
    return 262_144;
  }

  /** Makes a call on the network, for instance through a service binding. @default the bot's network */
  protected fetch(address: string, init?: RequestInit): Promise<Response> {
    const { fetch } = codeObject(this.ctx).feature?.host.deps ?? systemDeps;
    return fetch(address, init);
  }

  /**
   * Makes one call of the service. Overridden, it can make calls in another way. Returns the answer, or a failure as
   * `{ error: { name, message } }`, which code gets as an exception.
   */
  protected async request(options: OpenApiRequestOptions, ctx?: ToolExecuteContext): Promise<unknown> {
    const isRead = isReading(options);
    const header = isRead || ctx === undefined ? undefined : this.idempotencyHeader();
    const key = header === undefined ? {} : { [header]: sha256Now(ctx?.callId ?? "") };
    return sendRequest({
      base: this.#base(),
      options: { ...options, headers: { ...options.headers, ...key } },
      credentials: await this.credentials(ctx),
      fetch: this.fetch.bind(this),
      signal: ctx?.signal,
      maxBytes: this.maxResultBytes(),
      isRead,
      isRepeatable: header !== undefined,
      onFailure: (reason) =>
        codeObject(this.ctx).feature?.host.log.warn("code.service-failed", {
          connector: this.name(),
          reason,
        }),
    });
  }

  /**
   * @throws {ConfigurationError} `openapi-document`, `openapi-reference`, `openapi-base-url`, `openapi-operations`,
   * `openapi-unsupported`
   */
  protected override async tools(): Promise<ConnectorTools> {
    if (this.request === OpenApiConnector.prototype.request) this.#base();
    const document = new ApiDocument(await this.spec());
    const named = [...operationNames(document.operations())].filter(([name, { declared, method, path }]) =>
      this.includes({ name, method, path, tags: declared.tags }),
    );
    if (named.length > MOST_OPERATIONS)
      throw new ConfigurationError(
        "openapi-operations",
        `The connector "${this.name()}" has ${named.length} operations, and ${MOST_OPERATIONS} are the most. Choose some with includes().`,
      );
    const unfit = named.flatMap(([, operation]) => {
      const part = missingPartsOf(document, operation).find(({ isRequired }) => isRequired);
      return part === undefined ? [] : [`${operation.method} ${operation.path} needs ${part.words}`];
    });
    if (unfit.length > 0)
      throw new ConfigurationError(
        "openapi-unsupported",
        `The connector "${this.name()}" has operations that code cannot call: ${shortLine(unfit.join("; "), LONGEST_WORDS)}. Leave them out with includes().`,
      );
    return Object.fromEntries(named.map(([name, operation]) => [name, this.#toolOf(document, operation)]));
  }

  #toolOf(document: ApiDocument, operation: ApiOperation): ConnectorTool {
    const header = this.idempotencyHeader();
    const input = operationInput(document, operation, header === undefined ? [] : [header]);
    const conversion = new SchemaConversion(document, "output");
    const answer = conversion.convert(document.answerOf(operation) ?? {});
    const { isRead } = operation;
    return {
      description: wordsOf(operation, missingPartsOf(document, operation)),
      inputSchema: input.schema,
      ...(typeof answer !== "boolean" && { outputSchema: { ...answer, ...conversion.definitions() } }),
      requiresApproval: !isRead,
      ...(isRead ? { readOnly: true } : { repeatable: header !== undefined }),
      execute: (args, ctx) => this.request(fillRequest(operation, input, isRecord(args) ? args : {}), ctx),
    };
  }

  /** The message has no address: it may hold a password. */
  #base(): URL {
    const base = URL.parse(this.baseUrl());
    const isPlain = base !== null && `${base.username}${base.password}${base.search}${base.hash}` === "";
    if (isPlain && /^https?:$/.test(base.protocol)) return base;
    throw new ConfigurationError(
      "openapi-base-url",
      `The baseUrl() of the connector "${this.name()}" must be an address of https without user, query and fragment.`,
    );
  }
}

function isReading({ method = "GET" }: OpenApiRequestOptions): boolean {
  return method === "GET" || method === "HEAD";
}

function wordsOf(
  { declared: { description = "", summary = "" }, method, path }: ApiOperation,
  missing: readonly MissingPart[],
): string {
  const words = shortLine(summary.trim() === "" ? description : summary, LONGEST_WORDS).replace(
    /[.\s]+$/,
    "",
  );
  const named = words === "" ? `${method} ${path}` : `${words}. ${method} ${path}`;
  const left = missing.map((part) => part.words).join(" or ");
  return left === "" ? named : `${named}. Code cannot give ${shortLine(left, LONGEST_WORDS)}.`;
}

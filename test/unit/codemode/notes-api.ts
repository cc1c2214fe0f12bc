import type { ConnectorTool } from "../../../src/codemode/connector-tool.ts";
import { OpenApiConnector } from "../../../src/codemode/openapi/openapi-connector.ts";
import type { OpenApiCredentials } from "../../../src/codemode/openapi/openapi-request.ts";

export const TOKEN = "token-0123456789";

/** A document in the small. `rest` adds paths and more. */
export function notesDocument(rest: Readonly<Record<string, unknown>> = {}, more: object = {}): object {
  return {
    openapi: "3.1.0",
    info: { title: "Notes", version: "1" },
    servers: [{ url: "https://evil.example" }],
    paths: {
      "/notes": {
        get: {
          operationId: "list_notes",
          parameters: [{ name: "q", in: "query", schema: { type: "string" } }],
        },
        post: {
          operationId: "create_note",
          summary: "Creates a note",
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
              },
            },
          },
        },
      },
      "/notes/{id}": {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        get: { operationId: "get_note" },
        delete: { operationId: "delete_note" },
      },
      ...rest,
    },
    ...more,
  };
}

export interface SentCall {
  readonly address: string;
  readonly init: RequestInit;
}

export interface NotesOptions {
  readonly document?: object | string;
  readonly answer?: (call: SentCall, number: number) => Response | Promise<Response>;
  readonly credentials?: OpenApiCredentials;
  readonly base?: string;
  readonly idempotencyHeader?: string;
  readonly maxBytes?: number;
  readonly includes?: (name: string) => boolean;
}

/** A connector to a service that a test plays. */
export class NotesConnector extends OpenApiConnector {
  readonly sent: SentCall[] = [];
  readonly #options: NotesOptions;

  constructor(options: NotesOptions = {}) {
    super({}, {});
    this.#options = options;
  }

  name(): string {
    return "notes";
  }

  protected spec(): object | string {
    return this.#options.document ?? notesDocument();
  }

  protected override baseUrl(): string {
    return this.#options.base ?? "https://api.example/v1";
  }

  protected override credentials(): OpenApiCredentials {
    return this.#options.credentials ?? { headers: { authorization: `Bearer ${TOKEN}` } };
  }

  protected override includes({ name }: { readonly name: string }): boolean {
    return this.#options.includes?.(name) ?? true;
  }

  protected override idempotencyHeader(): string | undefined {
    return this.#options.idempotencyHeader;
  }

  protected override maxResultBytes(): number {
    return this.#options.maxBytes ?? super.maxResultBytes();
  }

  protected override async fetch(address: string, init: RequestInit = {}): Promise<Response> {
    this.sent.push({ address, init });
    const { answer = () => Response.json({ ok: true }) } = this.#options;
    return answer({ address, init }, this.sent.length);
  }

  async toolNamed(name: string): Promise<ConnectorTool> {
    const { tools } = await this.describe();
    const tool = tools[name];
    if (tool === undefined) throw new Error(`No tool ${name}, but ${Object.keys(tools).join()}`);
    return tool;
  }

  /** Calls a tool as a run of code does. */
  async call(name: string, args: object = {}, callId = "code:run:0"): Promise<unknown> {
    return (await this.toolNamed(name)).execute(args, { executionId: "run", callId });
  }
}

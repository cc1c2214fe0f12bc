import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiDocument } from "../../../src/codemode/openapi/api-document.ts";
import { operationNames } from "../../../src/codemode/openapi/operation-names.ts";
import { notesDocument, NotesConnector } from "./notes-api.ts";

const idOf = (id: string | undefined) => ({ ...(id !== undefined && { operationId: id }), responses: {} });

describe("the operations of a document", () => {
  it("have their operationId as a name, or their method and path", async () => {
    const document = notesDocument({
      "/users/{id}/notes": {
        get: {},
        put: { operationId: "users/replace notes" },
        post: { operationId: "2nd" },
      },
      "/then": { get: { operationId: "then" } },
    });
    const { tools } = await new NotesConnector({ document }).describe();
    expect(Object.keys(tools)).toEqual([
      "list_notes",
      "create_note",
      "get_note",
      "delete_note",
      "get_users_id_notes",
      "_2nd",
      "users_replace_notes",
      "_then",
    ]);
  });

  it("never share a name, whatever their ids are, in any order", () => {
    const ids = fc.option(
      fc.oneof(fc.constantFrom("a", "a-b", "a_b", "a b", "", "__proto__", "constructor"), fc.string()),
      { nil: undefined },
    );
    const paths = fc.uniqueArray(fc.constantFrom("/a", "/a-b", "/a/b", "/a_b", "/{a}/b", "/a//b"), {
      minLength: 1,
    });
    fc.assert(
      fc.property(paths, fc.array(fc.tuple(ids, ids), { minLength: 6, maxLength: 6 }), (all, given) => {
        const items = all.map(
          (path, at) => [path, { get: idOf(given[at]?.[0]), post: idOf(given[at]?.[1]) }] as const,
        );
        const names = (entries: typeof items) => {
          const document = new ApiDocument({ openapi: "3.0.3", paths: Object.fromEntries(entries) });
          return operationNames(document.operations());
        };
        const one = names(items);
        expect(one.size).toBe(all.length * 2);
        for (const name of one.keys()) expect(name).toMatch(/^[A-Za-z_$][\w$]*$/);
        const wheres = (map: typeof one) =>
          [...map].map(([name, { method, path }]) => `${name} ${method} ${path}`).toSorted();
        expect(wheres(names(items.toReversed()))).toEqual(wheres(one));
      }),
    );
  });

  it("ask people for all but GET and HEAD", async () => {
    const methods = ["get", "head", "put", "post", "delete", "patch", "options"];
    const item = Object.fromEntries(methods.map((method) => [method, { operationId: method }]));
    const { tools } = await new NotesConnector({
      document: { openapi: "3.0.0", paths: { "/a": { ...item, trace: {} } } },
    }).describe();
    const asking = Object.entries(tools).map(([name, { requiresApproval }]) => [name, requiresApproval]);
    expect(Object.fromEntries(asking)).toEqual({
      get: false,
      head: false,
      put: true,
      post: true,
      delete: true,
      patch: true,
      options: true,
    });
  });

  it.each([
    ["YAML", "openapi: 3.0.0\npaths: {}", "openapi-document", /Convert YAML to JSON/],
    ["Swagger 2.0", { swagger: "2.0", paths: {} }, "openapi-document", /3\.0 or 3\.1/],
    ["another version", { openapi: "4.0.0", paths: {} }, "openapi-document", /3\.0 or 3\.1/],
    ["a circle of objects", circle(), "openapi-document", /circles/],
    ["a parameter of no place", withParameter({ name: "a", in: "body" }), "openapi-document", /GET \/a: in/],
    [
      "a reference to a file",
      withParameter({ $ref: "other.json#/a" }),
      "openapi-reference",
      /nothing is fetched/,
    ],
    [
      "a reference to the network",
      withParameter({ $ref: "https://x.example/a" }),
      "openapi-reference",
      /nothing is/,
    ],
    [
      "a reference to nothing",
      withParameter({ $ref: "#/components/parameters/no" }),
      "openapi-reference",
      /to nothing/,
    ],
    [
      "a reference to itself",
      withParameter({ $ref: "#/paths/~1a/get/parameters/0" }),
      "openapi-reference",
      /itself/,
    ],
    [
      "a reference to a prototype",
      withParameter({ $ref: "#/paths/__proto__" }),
      "openapi-reference",
      /to nothing/,
    ],
  ])("are refused in %s", async (_what, document, code, words) => {
    const described = new NotesConnector({ document }).describe();
    await expect(described).rejects.toMatchObject({ code, message: expect.stringMatching(words) as string });
  });

  it("are chosen by the author, who needs no document in one piece for the others", async () => {
    const broken = { "/broken": { get: { operationId: "broken", parameters: [{ $ref: "other.json" }] } } };
    const document = notesDocument(broken);
    const { tools } = await new NotesConnector({
      document,
      includes: (name) => name !== "broken",
    }).describe();
    expect(Object.keys(tools)).toHaveLength(4);
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`/a${at}`, { get: {} }]));
    await expect(
      new NotesConnector({ document: { openapi: "3.1.0", paths: many } }).describe(),
    ).rejects.toMatchObject({ code: "openapi-operations" });
  });

  it("are read from JSON, too", async () => {
    const { tools } = await new NotesConnector({ document: JSON.stringify(notesDocument()) }).describe();
    expect(Object.keys(tools)).toContain("create_note");
  });

  it("are refused at the start by name if they need files or cookies, until the author leaves them out", async () => {
    const upload = { content: { "multipart/form-data": {} } };
    const cookie = { name: "session", in: "cookie" };
    const document = notesDocument({
      "/files": { post: { operationId: "upload", requestBody: { ...upload, required: true } } },
      "/me": { get: { operationId: "me", parameters: [{ ...cookie, required: true }] } },
      "/maybe": { post: { operationId: "maybe", requestBody: upload, parameters: [cookie] } },
    });
    await expect(new NotesConnector({ document }).describe()).rejects.toMatchObject({
      code: "openapi-unsupported",
      message:
        'The connector "notes" has operations that code cannot call: POST /files needs a body of multipart/form-data; GET /me needs the cookie "session". Leave them out with includes().',
    });
    const includes = (name: string) => name !== "upload" && name !== "me";
    const { tools } = await new NotesConnector({ document, includes }).describe();
    expect(Object.keys(tools)).toContain("maybe");
    expect(tools["maybe"]?.inputSchema?.properties).toEqual({});
    expect(tools["maybe"]?.description).toBe(
      'POST /maybe. Code cannot give a body of multipart/form-data or the cookie "session".',
    );
  });
});

function withParameter(parameter: object): object {
  return { openapi: "3.1.0", paths: { "/a": { get: { parameters: [parameter] } } } };
}

function circle(): object {
  const schema: Record<string, unknown> = { type: "object" };
  schema["properties"] = { self: schema };
  return withParameter({ name: "a", in: "query", schema });
}

describe("the types for the model", () => {
  const schemas = {
    Person: {
      type: "object",
      required: ["id", "name"],
      properties: {
        id: { type: "integer", readOnly: true },
        name: { type: "string", description: "The full name" },
        boss: { $ref: "#/components/schemas/Person" },
        secret: { type: "string", writeOnly: true },
        mood: { type: "string", nullable: true, enum: ["good", "bad"] },
        age: { type: "number", nullable: true },
      },
    },
    Manager: {
      allOf: [
        { $ref: "#/components/schemas/Person" },
        {
          type: "object",
          properties: { team: { type: "array", items: { $ref: "#/components/schemas/Person" } } },
        },
      ],
    },
  };
  const put = {
    operationId: "put_person",
    requestBody: { $ref: "#/components/requestBodies/Person" },
    responses: {
      "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/Manager" } } } },
    },
  };
  const document = notesDocument(
    { "/people/{id}": { put } },
    {
      components: {
        schemas,
        requestBodies: {
          Person: {
            required: true,
            content: { "application/vnd.api+json": { schema: { $ref: "#/components/schemas/Person" } } },
          },
        },
      },
    },
  );

  it("follow references, end in circles, and know which way a property goes", async () => {
    const types = await new NotesConnector({ document }).getTypeScriptTypes();
    const [line = ""] = /^ {2}put_person.*$/m.exec(types) ?? [];
    const [input = "", output = ""] = line.split("Promise<");
    expect(input).toContain("id: string; body: { /** The full name */ name: string; boss?: { ");
    expect(input).toContain('mood?: "good" | "bad" | null; age?: number | null');
    expect(input).toContain("secret?: string");
    expect(input).not.toContain("id: number");
    expect(output).toContain("{ id: number; /** The full name */ name: string");
    expect(output).toContain("team?: ({ id: number");
    expect(output).not.toContain("secret");
    expect(types).toContain("/** PUT /people/{id} A person must agree first. */");
  });

  it("stay short, however often schemas name each other", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `S${at}`);
    const properties = Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]),
    );
    const all = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
    const answer = {
      "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/S0" } } } },
    };
    const types = await new NotesConnector({
      document: notesDocument(
        { "/all": { get: { operationId: "all", responses: answer } } },
        { components: { schemas: all } },
      ),
    }).getTypeScriptTypes();
    expect(types).toContain("all(input?: Record<string, unknown>): Promise<{ S0?:");
    expect(types.length).toBeLessThan(20_000);
  });

  it("give two parameters of one name two keys", async () => {
    const parameters = ["query", "header", "path"].map((place) => ({
      name: "id",
      in: place,
      required: place === "path",
      schema: { type: place === "path" ? "string" : "integer" },
    }));
    const body = { content: { "text/plain": { schema: { type: "string" } } } };
    const document_ = notesDocument({
      "/twice/{id}": {
        post: {
          operationId: "twice",
          parameters: [...parameters, { name: "body", in: "query", schema: {} }],
          requestBody: body,
        },
      },
    });
    const connector = new NotesConnector({ document: document_ });
    const { inputSchema } = await connector.toolNamed("twice");
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual([
      "id",
      "query_id",
      "query_body",
      "header_id",
      "body",
    ]);
    await connector.call("twice", { id: "a", query_id: 1, header_id: 2, query_body: "q", body: "text" });
    const [call] = connector.sent;
    expect(call?.address).toBe("https://api.example/v1/twice/a?id=1&body=q");
    expect(new Headers(call?.init.headers).get("id")).toBe("2");
    expect(call?.init.body).toBe("text");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { notesDocument, NotesConnector, TOKEN } from "./notes-api.ts";
import type { NotesOptions, SentCall } from "./notes-api.ts";

const query = (name: string, rest: object = {}) => ({ name, in: "query", schema: {}, ...rest });

function searching(parameters: readonly object[], rest: Omit<NotesOptions, "document"> = {}): NotesConnector {
  const document = notesDocument({ "/search": { get: { operationId: "search", parameters } } });
  return new NotesConnector({ document, ...rest });
}

const errorOf = (output: unknown) =>
  (output as { readonly error?: { readonly message?: string } }).error?.message;

describe("a call of an operation", () => {
  it("fills the path, the query, the headers and the body", async () => {
    const connector = new NotesConnector();
    await connector.call("list_notes", { q: "a b&c=d" });
    await connector.call("get_note", { id: "a/b?c#d%é" });
    await connector.call("create_note", { body: { text: "Hello" } });
    expect(connector.sent.map(({ address, init }) => `${init.method} ${address}`)).toEqual([
      "GET https://api.example/v1/notes?q=a+b%26c%3Dd",
      "GET https://api.example/v1/notes/a%2Fb%3Fc%23d%25%C3%A9",
      "POST https://api.example/v1/notes",
    ]);
    const [, , create] = connector.sent;
    expect(create?.init.body).toBe('{"text":"Hello"}');
    expect(new Headers(create?.init.headers).get("content-type")).toBe("application/json");
    expect(new Headers(create?.init.headers).get("authorization")).toBe(`Bearer ${TOKEN}`);
  });

  it.each([
    ["a list", query("a"), [1, 2], "a=1&a=2"],
    ["a list in one", query("a", { explode: false }), [1, 2], "a=1%2C2"],
    ["a list with pipes", query("a", { style: "pipeDelimited" }), [1, 2], "a=1%7C2"],
    ["a list with spaces", query("a", { style: "spaceDelimited" }), [1, 2], "a=1+2"],
    ["an object", query("a"), { x: 1, y: "b" }, "x=1&y=b"],
    ["an object in one", query("a", { explode: false }), { x: 1, y: "b" }, "a=x%2C1%2Cy%2Cb"],
    [
      "a deep object",
      query("a", { style: "deepObject" }),
      { x: { y: [1, 2] } },
      "a%5Bx%5D%5By%5D%5B%5D=1&a%5Bx%5D%5By%5D%5B%5D=2",
    ],
    ["JSON", query("a", { content: { "application/json": {} } }), { x: 1 }, "a=%7B%22x%22%3A1%7D"],
    ["false and 0", query("a"), [false, 0], "a=false&a=0"],
    ["nothing for null", query("a"), null, ""],
  ])("writes %s into the query as the document says", async (_what, parameter, value, written) => {
    const connector = searching([parameter]);
    await connector.call("search", { a: value });
    expect(new URL(connector.sent[0]?.address ?? "").search.slice(1)).toBe(written);
  });

  it("writes forms, and nested values in them", async () => {
    const requestBody = { content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } } };
    const document = notesDocument({ "/charges": { post: { operationId: "charge", requestBody } } });
    const connector = new NotesConnector({ document });
    await connector.call("charge", { body: { amount: 5, meta: { order: "A 1" }, items: ["x"] } });
    expect(connector.sent[0]?.init.body).toBe("amount=5&meta%5Border%5D=A+1&items%5B%5D=x");
  });

  it.each(["", ".", ".."])("never leaves its path for the value %j", async (id) => {
    const document = notesDocument({ "/notes/{id}/{part}": { delete: { operationId: "deep" } } });
    const connector = new NotesConnector({ document });
    await expect(connector.call("delete_note", { id })).rejects.toThrow(/Nothing was done/);
    await expect(connector.call("deep", { id: "a", part: id })).rejects.toThrow(/Nothing was done/);
    expect(connector.sent).toEqual([]);
  });

  it("encodes a value that is encoded already", async () => {
    const connector = new NotesConnector();
    await connector.call("get_note", { id: "%2e%2e" });
    expect(connector.sent[0]?.address).toBe("https://api.example/v1/notes/%252e%252e");
  });

  it("reaches the author's host only, whatever the document and the model say", async () => {
    const hostile = [
      "//evil.example/x",
      "/..//evil.example",
      "/\\evil.example",
      "/x?y=@evil.example",
      "/{a}",
      "/@evil.example",
    ];
    const document = notesDocument(
      Object.fromEntries(
        hostile.map((path, at) => [
          path,
          { servers: [{ url: "https://evil.example" }], get: { operationId: `op${at}` } },
        ]),
      ),
    );
    const values = fc.oneof(
      fc.string(),
      fc.constantFrom("@evil.example", "//evil.example", "\\\\evil.example", "..%2f.."),
    );
    await fc.assert(
      fc.asyncProperty(values, values, fc.nat(hostile.length - 1), async (value, q, at) => {
        const connector = new NotesConnector({ document, base: "https://api.example" });
        for (const call of [
          connector.call(`op${at}`, { a: value }),
          connector.call("get_note", { id: value }),
          connector.call("list_notes", { q, host: "evil.example" }),
        ])
          await call.catch(() => undefined);
        for (const { address } of connector.sent) expect(new URL(address).host).toBe("api.example");
      }),
    );
  });

  it("lets no model write the headers that choose host, person or method", async () => {
    const names = [
      "Host",
      "Authorization",
      "Cookie",
      "X-HTTP-Method-Override",
      "X-Forwarded-Host",
      "Content-Type",
      "Idempotency-Key",
      "X-Team",
    ];
    const parameters = names.map((name) => ({ name, in: "header", schema: { type: "string" } }));
    const connector = searching(parameters, { idempotencyHeader: "idempotency-key" });
    const { inputSchema } = await connector.toolNamed("search");
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(["X-Team"]);
    await connector.call("search", Object.fromEntries(names.map((name) => [name, "evil"])));
    const headers = [...new Headers(connector.sent[0]?.init.headers)].filter(([, value]) => value === "evil");
    expect(headers).toEqual([["x-team", "evil"]]);
  });

  it("sends a header with a line break nowhere", async () => {
    const connector = searching([{ name: "X-Team", in: "header", schema: {} }]);
    expect(errorOf(await connector.call("search", { "X-Team": "a\r\nx-admin: 1" }))).toContain(
      "Nothing was done",
    );
    expect(connector.sent).toEqual([]);
  });

  it.each([
    ["https://user:password@api.example"],
    ["https://api.example?key=1"],
    ["ftp://api.example"],
    ["api"],
  ])("needs a plain address of the author, not %s", async (base) => {
    const error = await new NotesConnector({ base }).describe().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "openapi-base-url" });
    expect(String(error)).not.toContain("password");
  });
});

describe("the answer of a service", () => {
  const answering = (answer: NotesOptions["answer"], rest: NotesOptions = {}) =>
    new NotesConnector({ ...(answer && { answer }), ...rest });

  it("is JSON, a text, or nothing", async () => {
    const answers = [
      Response.json({ id: 1 }, { headers: { "content-type": "application/vnd.api+json; charset=utf-8" } }),
      new Response("plain"),
      new Response(null, { status: 204 }),
      new Response("{ broken", { headers: { "content-type": "application/json" } }),
    ];
    const connector = answering((_call, number) => answers[number - 1] ?? Response.error());
    const all = [];
    for (const _answer of answers) all.push(await connector.call("list_notes"));
    expect(all).toEqual([{ id: 1 }, "plain", null, "{ broken"]);
  });

  it("never shows a credential that the service repeats", async () => {
    const secret = 's3cr/et+"key';
    const credentials = { headers: { authorization: `Bearer ${TOKEN}` }, params: { api_key: secret } };
    const echo = ({ address, init }: SentCall) => ({
      address,
      headers: Object.fromEntries(new Headers(init.headers)),
      key: secret,
      [TOKEN]: true,
    });
    const connector = answering(
      (call, number) => Response.json(echo(call), { status: number === 1 ? 200 : 400 }),
      {
        credentials,
      },
    );
    for (let round = 0; round < 2; round += 1) {
      const shown = JSON.stringify(await connector.call("list_notes"));
      expect(shown).toContain("[hidden]");
      for (const value of [TOKEN, secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
        expect(shown).not.toContain(value);
    }
    expect(connector.sent[0]?.address).toContain("api_key=");
  });

  it("lets the author's credentials win over the model's parameters", async () => {
    const connector = searching([query("api_key"), query("more", { style: "form" })], {
      credentials: { params: { api_key: "the author's key" } },
    });
    await connector.call("search", { api_key: "mine", more: { api_key: "mine, too" } });
    expect(new URL(connector.sent[0]?.address ?? "").searchParams.getAll("api_key")).toEqual([
      "the author's key",
    ]);
  });

  it.each([
    ["http://api.example/v1/moved", "another host"],
    ["https://evil.example/", "another host"],
    ["//evil.example/", "another host"],
    ["https://", "another host"],
  ])("is never fetched from %s", async (location, words) => {
    const connector = answering(() => new Response(null, { status: 302, headers: { location } }));
    expect(errorOf(await connector.call("list_notes"))).toContain(words);
    expect(connector.sent).toHaveLength(1);
  });

  it("is fetched after a redirect on the same origin, but not for ever", async () => {
    const moved = () => new Response(null, { status: 301, headers: { location: "/v2/notes" } });
    const once = answering((_call, number) => (number === 1 ? moved() : Response.json("here")));
    expect(await once.call("list_notes")).toBe("here");
    expect(once.sent[1]?.address).toBe("https://api.example/v2/notes");
    const always = answering(moved);
    expect(errorOf(await always.call("list_notes"))).toContain("too often");
    expect(always.sent).toHaveLength(4);
  });

  it("says after a change that it was a redirect, and repeats nothing", async () => {
    const connector = answering(
      () => new Response(null, { status: 307, headers: { location: "/v2/notes" } }),
    );
    expect(await connector.call("create_note", { body: { text: "a" } })).toMatchObject({ status: 307 });
    expect(connector.sent).toHaveLength(1);
  });

  it("has a limit, and a change with a larger one has worked", async () => {
    const connector = answering(() => new Response("x".repeat(200)), { maxBytes: 100 });
    expect(errorOf(await connector.call("list_notes"))).toContain("more than 100 bytes");
    expect(await connector.call("create_note", { body: { text: "a" } })).toMatchObject({
      status: 200,
      note: expect.stringContaining("The call worked") as string,
    });
  });

  it("stops reading a body that does not end", async () => {
    let pieces = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pieces += 1;
        controller.enqueue(new Uint8Array(64));
      },
    });
    const connector = answering(() => new Response(endless), { maxBytes: 1_000 });
    expect(errorOf(await connector.call("list_notes"))).toContain("more than 1000 bytes");
    expect(pieces).toBeLessThan(20);
  });

  it("is no file", async () => {
    const connector = answering(() => new Response("PNG", { headers: { "content-type": "image/png" } }));
    expect(await connector.call("list_notes")).toMatchObject({
      note: expect.stringContaining("image/png") as string,
    });
  });

  it("of HEAD is its headers", async () => {
    const document = notesDocument({ "/notes/{id}": { head: { operationId: "look" } } });
    const connector = answering(
      () => new Response(null, { headers: { etag: "1", "set-cookie": "session=secret" } }),
      { document },
    );
    expect(await connector.call("look", { id: "a" })).toMatchObject({ etag: "1" });
    expect(JSON.stringify(await connector.call("look", { id: "a" }))).not.toContain("secret");
  });

  it.each([
    [404, {}, { message: "no such note" }, ["404", "no such note"]],
    [403, {}, {}, ["403", "the bot may not do this"]],
    [429, { "retry-after": "30" }, {}, ["Try again after 30 s"]],
  ])("with the status %i is an error that code can read", async (status, headers, body, words) => {
    const connector = answering(() => Response.json(body, { status, headers }));
    const message = errorOf(await connector.call("list_notes"));
    for (const one of words) expect(message).toContain(one);
  });

  it("shows no page of a server in between", async () => {
    const page = () =>
      new Response("<html>nginx</html>", { status: 400, headers: { "content-type": "text/html" } });
    expect(errorOf(await answering(page).call("list_notes"))).toBe("The service answered 400.");
  });

  it("that is lost is read once more, and a change is unknown and not repeated", async () => {
    const dead = () => {
      throw new Error(`connection to https://api.example?key=${TOKEN} lost`);
    };
    for (const answer of [dead, () => new Response("later", { status: 503 })]) {
      const read = answering(answer);
      expect(errorOf(await read.call("list_notes"))).toContain("did not answer");
      expect(read.sent).toHaveLength(2);
      const change = answering(answer);
      const unknown = await change.call("create_note", { body: { text: "a" } });
      expect(unknown).toMatchObject({ error: { name: "ActionUnknownError" } });
      expect(JSON.stringify(unknown)).not.toContain(TOKEN);
      expect(change.sent).toHaveLength(1);
    }
  });

  it("that is lost is asked for again with the same key, if the service knows keys", async () => {
    const connector = answering(
      (_call, number) => (number === 1 ? new Response("", { status: 502 }) : Response.json("made")),
      { idempotencyHeader: "Idempotency-Key" },
    );
    expect(await connector.call("create_note", { body: { text: "a" } })).toBe("made");
    await connector.call("create_note", { body: { text: "a" } }, "code:run:1");
    await connector.call("list_notes");
    const keys = connector.sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"));
    expect(keys[0]).toMatch(/^[\da-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(keys[3]).toBeNull();
    expect((await connector.toolNamed("create_note")).repeatable).toBe(true);
  });
});

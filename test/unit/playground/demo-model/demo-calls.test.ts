import type { JSONValue, LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { invalidInput } from "../../../../src/actions/declare/action-errors.ts";
import { demoReply } from "../../../../playground/demo-model/demo-reply.ts";

function toolOf(name: string, schema: z.ZodType, description?: string): LanguageModelV4FunctionTool {
  const inputSchema = z.toJSONSchema(schema) as LanguageModelV4FunctionTool["inputSchema"];
  return { type: "function", name, inputSchema, ...(description !== undefined && { description }) };
}

const BOOK = toolOf(
  "book_table",
  z.object({
    people: z.int().min(2),
    day: z.iso.date(),
    area: z.enum(["inside", "garden"]),
    guests: z.array(z.object({ name: z.string(), isChild: z.boolean() })),
    note: z.string().optional(),
  }),
  "Books a table. Ask for the day first.",
);
const CLOSE = toolOf("close_kitchen", z.object({}));
const EXAMPLE =
  '`/call book_table {"people":2,"day":"2030-12-24","area":"inside","guests":[{"name":"…","isChild":true}]}`';

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
const EARLIER: LanguageModelV4Message[] = [
  user("hello"),
  { role: "assistant", content: [{ type: "text", text: "Hello!" }] },
];

const say = (text: string, tools = [BOOK, CLOSE]) => demoReply([...EARLIER, user(text)], tools, true);

/** The reply after a call had this result. */
function answerTo(value: JSONValue, isError = false): string {
  const output =
    isError && typeof value === "string"
      ? ({ type: "error-text", value } as const)
      : ({ type: "json", value } as const);
  const call = { toolCallId: "1", toolName: "book_table" };
  return demoReply(
    [
      ...EARLIER,
      user('/call book_table {"people":4}'),
      { role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] },
      { role: "tool", content: [{ type: "tool-result", ...call, output }] },
    ],
    [BOOK, CLOSE],
    true,
  ).text;
}

describe("a bot that is tried without a model", () => {
  it.each([
    "Is there a table tomorrow?",
    "where is order 1001?",
    "help",
    "will it rain?",
    "/call",
    "make a list",
  ])("lists its own tools and actions, and speaks of no orders: %s", (text) => {
    const reply = say(text);
    expect(reply.text).toContain(`- **book_table**: Books a table.\n  ${EXAMPLE}`);
    expect(reply.text).toContain("- **close_kitchen**\n  `/call close_kitchen {}`");
    expect(reply.text).not.toMatch(/\border\b/);
    expect(reply.calls).toEqual([]);
  });

  it("says so if it has none", () => {
    expect(say("help", []).text).toMatch(/^This bot has no tools or actions yet/);
    expect(say("Is it open?", []).text).toMatch(/^I can't answer that. This bot has no tools or actions yet/);
  });

  it("still greets, thanks and shows formatting", () => {
    expect(say("hello").text).toBe('Hello! How can I help? Try "help".');
    expect(say("show me markdown").text).toContain("| Size | Price |");
    expect(say("thanks").text).toBe("You're welcome!");
  });

  it.each([
    ['/call book_table {"people":4}', { people: 4 }],
    ['/call@my_bot book_table {"people": 4,\n"day": "2026-12-24"}', { people: 4, day: "2026-12-24" }],
    ["/call book_table {“area”: “garden”}", { area: "garden" }],
    ['/call book_table{"people":4}', { people: 4 }],
    ["/call book_table", {}],
    ['Ann: /call book_table {"people":4}', { people: 4 }],
  ])("runs what it is told to: %s", (text, input) => {
    expect(say(text).calls).toMatchObject([{ toolName: "book_table", input }]);
  });

  it("takes messages that follow each other as several calls", () => {
    const reply = say('Hello\n/call book_table {"people":4}\n/call fly\n/call close_kitchen {}');
    expect(reply.text).toContain("no tool or action `fly`");
    expect(reply.calls.map(({ toolName }) => toolName)).toEqual(["book_table", "close_kitchen"]);
    expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(2);
  });

  it("says what is wrong with a call, and how to write it", () => {
    expect(say("/call book_tabel {}")).toEqual({
      text: "This bot has no tool or action `book_tabel`. Did you mean `book_table`?",
      calls: [],
    });
    expect(say("/call fly {}").text).toContain("no tool or action `fly`. Without a model you can run");
    const broken = say("/call book_table {people:4}");
    expect(broken.calls).toEqual([]);
    expect(broken.text).toMatch(/^This is not valid JSON: .*position 1/);
    expect(broken.text).toContain(`Write it like this: ${EXAMPLE}`);
    expect(say("/call book_table [4]").text).toMatch(/must be a JSON object, in braces.*Write it like this/);
  });

  it("says which fields are refused, in the words of an action and of a tool", () => {
    const action = answerTo(invalidInput("people: too small") as unknown as JSONValue);
    expect(action).toBe(`The input is not valid: people: too small\n\nWrite it like this: ${EXAMPLE}`);
    const issues = [
      { code: "invalid_type", path: ["guests", 0, "name"], message: "Invalid input: expected string" },
    ];
    const tool = `AI_InvalidToolInputError: Invalid input for tool book_table: AI_TypeValidationError: Type validation failed: Value: {}.\nError message: ${JSON.stringify(issues, undefined, 2)}`;
    expect(answerTo(tool, true)).toBe(
      `The input is not valid: guests.0.name: Invalid input: expected string\n\nWrite it like this: ${EXAMPLE}`,
    );
    const other = "Invalid input for tool book_table: no JSON at all";
    expect(answerTo(other, true)).toContain("The input is not valid: it does not fit the schema");
  });

  it("shows the result as it is, a refusal in its own words, and that somebody has to agree", () => {
    expect(answerTo({ table: 7 })).toBe('```json\n{\n  "table": 7\n}\n```');
    expect(answerTo({ error: { name: "ActionError", message: "The kitchen is closed." } })).toBe(
      "The kitchen is closed.",
    );
    expect(answerTo("The tool failed.", true)).toBe("The tool failed.");
    expect(answerTo({ waiting: "approval" })).toBe("Somebody has to agree to that first.");
  });

  it("understands any text and schema", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 6 }), (text, schema) => {
        const tool = { ...CLOSE, inputSchema: schema as LanguageModelV4FunctionTool["inputSchema"] };
        expect(say(`/call close_kitchen ${text}`, [tool]).text).not.toBe("");
        expect(say("help", [tool]).text).toContain("/call close_kitchen");
      }),
    );
  });
});

describe("all other bots", () => {
  it("speak of orders where the demo's shop is, and run what they are told to", () => {
    const lookup = toolOf("lookup_order", z.object({ orderId: z.string() }));
    expect(say("help", [lookup]).text).toContain("track order 1001");
    expect(say('/call lookup_order {"orderId":"1001"}', [lookup]).calls).toHaveLength(1);
  });

  it("know no calls by hand where they are served", () => {
    const served = demoReply([...EARLIER, user('/call book_table {"people":4}')], [BOOK, CLOSE]);
    expect(served).toEqual({
      text: expect.stringContaining("I didn't understand that") as string,
      calls: [],
    });
  });
});

import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { stepCountIs, streamText, tool, type ModelMessage, type ToolSet } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DEMO_NOTICE } from "../../../../playground/demo-model/demo-intents.ts";
import { createDemoModel } from "../../../../playground/demo-model/demo-model.ts";
import { demoReply } from "../../../../playground/demo-model/demo-reply.ts";
import {
  consentOutdated,
  nobodyToAsk,
  notAuthorized,
  outcomeUnknown,
  stillPending,
} from "../../../../src/actions/declare/action-errors.ts";
import type { ActionFailure } from "../../../../src/actions/declare/action-errors.ts";
import { FakeClock, pausedBy, settle } from "../../models/fake-clock.ts";
import { collect, PROMPT } from "../../models/stub-model.ts";

const LOOKUP: LanguageModelV4FunctionTool = {
  type: "function",
  name: "lookup_order",
  inputSchema: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] },
};

function user(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

const EARLIER: LanguageModelV4Prompt = [
  user("hello"),
  { role: "assistant", content: [{ type: "text", text: "Hello!" }] },
];

/** The reply to a message in a conversation that has gone on for a while, so without the notice. */
function say(text: string, tools: LanguageModelV4FunctionTool[] = []) {
  return demoReply([...EARLIER, user(text)], tools);
}

function inputsOf(text: string, tools = [LOOKUP]) {
  return say(text, tools).calls.map((call) => call.input);
}

describe("the demo model", () => {
  it("says in its first reply what it is and how to set a real model, and not again", () => {
    const first = demoReply([{ role: "system", content: "You help." }, user("hello")], []);
    expect(first.text).toContain(DEMO_NOTICE);
    for (const name of ["OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL", "ANTHROPIC_API_KEY"]) {
      expect(first.text).toContain(name);
    }
    expect(say("hello").text).not.toContain(DEMO_NOTICE);
  });

  const sentences: readonly (readonly [string, RegExp])[] = [
    ["Hello!", /^Hello! How can I help/],
    ["Ann Smith: good morning", /^Hello, Ann Smith!/],
    ["thank you so much", /welcome/],
    ["bye", /Goodbye/],
    ["what can you do?", /I understand:/],
    ["will it rain tomorrow?", /can't tell you the weather/],
    ["please make a list", /^- a raincoat$/m],
    ["where is my order?", /Which order/],
    ["show me markdown", /```ts/],
    ["[image: cat.png, image/png]", /can't read files/],
    ["[Sticker: 🙂]", /^Your sticker has arrived, but/],
    ["[Location: 52.5, 13.4]", /^Your location has arrived, but/],
    ["[A message of a kind that this bot cannot read]", /can.t read that kind/],
    ["colourless green ideas", /didn't understand/],
    ["", /didn't understand/],
    ['[In reply to your message: "Show me markdown"]\nthanks', /welcome/],
    ["bob77: thanks", /welcome/],
    ["Mr. Long: thanks", /welcome/],
  ];
  it.each(sentences)("answers %j", (text, answer) => {
    expect(say(text)).toMatchObject({ text: expect.stringMatching(answer), calls: [] });
  });

  it("answers several messages in a row at once", () => {
    const reply = demoReply([...EARLIER, user("hello"), user("will it rain?\nthanks")], [LOOKUP]);
    expect(reply.text).toMatch(/^Hello![^]*\n\nI can't tell you the weather[^]*\n\nYou're welcome!$/);
    expect(demoReply([...EARLIER, user("hello"), user("order 1001?")], [LOOKUP]).calls).toHaveLength(1);
  });

  it.each([
    ["tell me something long", 6000],
    ["long text 12000", 12_000],
    ["long text 300", 300],
    ["long text 99999", 20_000],
  ])("answers %j with about as much, in whole sentences", (request, length) => {
    const { text } = say(request);
    expect(text.length).toBeLessThanOrEqual(length);
    expect(text.length).toBeGreaterThan(length - 200);
    expect(text).toMatch(/(?:for the whole day|as always)\.$/);
  });

  const orders: readonly (readonly [string, readonly string[]])[] = [
    ["where is order A-1001?", ["A-1001"]],
    ["Where is my order a-1001", ["A-1001"]],
    ["A-1001", ["A-1001"]],
    ["Where is order ORD-20001?", ["ORD-20001"]],
    ["order 1001 please", ["1001"]],
    ["what about #1002?", ["1002"]],
    ["orders A-1001 and A-1002 and A-1001", ["A-1001", "A-1002"]],
    ["Ann: where is order A-1001?", ["A-1001"]],
    ["Ann: A-1001\nAnn: and A-1002?", ["A-1001", "A-1002"]],
    ['[In reply to Bob\'s message: "my order A-1003\nis late"]\nwhere is it?', ["A-1003"]],
    ['[In reply to Bob\'s message: "my order A-1003 is late"]\nthanks', []],
    ["> order A-1004\nwhat is its status?", ["A-1004"]],
    ["[Button pressed: order A-1005]", ["A-1005"]],
    ["4711: where is my order?", []],
    ["call me at 10:30", []],
  ];
  it.each(orders)("finds the orders of %j", (text, ids) => {
    expect(inputsOf(text)).toEqual(ids.map((orderId) => ({ orderId })));
  });

  it("takes a bare number for the answer to its own question", () => {
    const tool = (name: string): LanguageModelV4FunctionTool => ({ ...LOOKUP, name });
    const callsAfter = (question: string, answer: string, said = say(question).text) =>
      demoReply(
        [user(question), { role: "assistant", content: [{ type: "text", text: said }] }, user(answer)],
        [tool("track"), tool("send_invoice"), LOOKUP],
      ).calls.map(({ input, toolName }) => [toolName, input["orderId"]]);
    expect(callsAfter("Where's my parcel?", "1004")).toEqual([["lookup_order", "1004"]]);
    expect(callsAfter("an invoice please", "1003.")).toEqual([["send_invoice", "1003"]]);
    expect(callsAfter("track it", "1003", "Which day is it?")).toEqual([]);
    expect(callsAfter("Where's my parcel?", "never mind")).toEqual([]);
  });

  it("prefers a tool for what is asked to one that only knows orders", () => {
    const tool = (name: string): LanguageModelV4FunctionTool => ({ ...LOOKUP, name });
    const nameOf = (text: string) =>
      say(text, [tool("track"), tool("send_invoice"), LOOKUP]).calls[0]?.toolName;
    expect(nameOf("Please track my order 1001")).toBe("track");
    expect(nameOf("Send me the invoice for order 1001")).toBe("send_invoice");
    expect(nameOf("I need an invoice for 1001")).toBe("send_invoice");
    expect(nameOf("Where is order 1001?")).toBe("lookup_order");
  });

  it("finds values for other tools by their names and schemas", () => {
    const made = (name: string, properties: object): LanguageModelV4FunctionTool => ({
      type: "function",
      name,
      inputSchema: {
        type: "object",
        properties,
        required: Object.keys(properties),
      } as LanguageModelV4FunctionTool["inputSchema"],
    });
    expect(
      inputsOf("what is the weather in New York?", [made("get_weather", { city: { type: "string" } })]),
    ).toEqual([{ city: "New York" }]);
    expect(inputsOf("set an alarm for 7", [made("alarm", { hour: { type: "integer" } })])).toEqual([
      { hour: 7 },
    ]);
    expect(inputsOf("the large pizza", [made("getPizza", { size: { enum: ["small", "large"] } })])).toEqual([
      { size: "large" },
    ]);
    expect(inputsOf("what are your opening hours?", [made("get_opening_hours", {})])).toEqual([{}]);
    expect(inputsOf("hello", [made("get_opening_hours", {}), LOOKUP])).toEqual([]);
  });

  async function run(prompt: string | ModelMessage[], tools: ToolSet) {
    const clock = new FakeClock();
    const result = streamText({
      model: createDemoModel(pausedBy(clock)),
      tools,
      stopWhen: stepCountIs(10),
      ...(typeof prompt === "string" ? { prompt } : { messages: prompt }),
    });
    const steps = await clock.runUntil(Promise.resolve(result.steps));
    return { steps, text: steps.map((step) => step.text).join("\n\n") };
  }

  it("calls a bot's real tool through the AI SDK and words its result", async () => {
    const asked: string[] = [];
    const { steps, text } = await run("Where is order A-1001?", {
      lookup_order: tool({
        inputSchema: z.object({ orderId: z.string() }),
        execute: ({ orderId }) => {
          asked.push(orderId);
          return {
            found: true,
            order: {
              id: orderId,
              status: "in_transit",
              items: [{ name: "Mug", quantity: 2 }, "Tea"],
              totalCents: 1250,
              currency: "EUR",
              estimatedDelivery: "Friday",
              paid: true,
            },
          };
        },
      }),
    });
    expect(asked).toEqual(["A-1001"]);
    expect(steps).toHaveLength(2);
    expect(text).toContain("looking up **A-1001**");
    expect(text).toContain(
      "Order **A-1001** is **in transit**.\n\n- Items: 2 × Mug; Tea\n- Total: 12.50 EUR\n- Estimated delivery: Friday\n- Paid: yes",
    );
    expect(text.split(DEMO_NOTICE)).toHaveLength(2);
  });

  const results: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["not found", () => ({ found: false, message: "There is no order A-1." }), /^There is no order A-1\.$/m],
    ["not found, without words", () => ({ found: false }), /couldn't find/],
    ["a text", () => "It is on its way.", /^It is on its way\.$/m],
    [
      "a failure",
      () => {
        throw new Error("secret detail");
      },
      /couldn't look that up/,
    ],
  ];
  it.each(results)(
    "answers from a result that is %s, once, without another call",
    async (_name, execute, answer) => {
      const { steps, text } = await run("order A-1001?", {
        lookup_order: tool({ inputSchema: z.object({ orderId: z.string() }), execute }),
      });
      expect(steps).toHaveLength(2);
      expect(text).toMatch(answer);
      expect(text).not.toContain("secret");
    },
  );

  it("streams word by word, a word every 30 ms, and a long text in six seconds", async () => {
    const clock = new FakeClock();
    const model = createDemoModel(pausedBy(clock));
    const { parts } = collect((await model.doStream(PROMPT)).stream);
    const texts = () => parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    await settle();
    expect(texts()).toEqual([]);
    await clock.advance(30);
    expect(texts()).toEqual(["Hello!"]);
    await clock.advance(30);
    expect(texts()).toEqual(["Hello!", " How"]);
    const long = collect((await model.doStream({ prompt: [user("long text 20000")] })).stream);
    await clock.advance(6100);
    expect(long.parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "stop" } });
  });

  it("stops at once when it is aborted, and frees its timer when nobody reads on", async () => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const aborted = collect(
      (await createDemoModel(pausedBy(clock)).doStream({ ...PROMPT, abortSignal: caller.signal })).stream,
    );
    await clock.advance(40);
    caller.abort(new Error("stopped"));
    await expect(aborted.ended).rejects.toThrow("stopped");
    expect(clock.pending).toBe(0);
  });

  it("gives the same text whole as in pieces, whatever it is asked", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60, unit: "binary" }), async (text) => {
        const clock = new FakeClock();
        const model = createDemoModel(pausedBy(clock));
        const options = { prompt: [user(text)], tools: [LOOKUP] };
        const { content } = await model.doGenerate(options);
        const { parts, ended } = collect((await model.doStream(options)).stream);
        await clock.runUntil(ended);
        const streamed = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join("");
        expect(content[0]).toEqual({ type: "text", text: streamed });
      }),
      { numRuns: 15 },
    );
  });
});

describe("the demo model and refunds", () => {
  const REFUND: LanguageModelV4FunctionTool = {
    type: "function",
    name: "refund_order",
    inputSchema: {
      type: "object",
      properties: { orderId: { type: "string" }, amountCents: { type: "integer" } },
      required: ["orderId", "amountCents"],
    },
  };

  it.each([
    ["please refund 20 € for order 1001", 2000],
    ["refund order 1001, 20.50 euros", 2050],
    ["refund €5 for order 1001", 500],
    ["refund 500 € for order 1001", 50_000],
    ["refund 700 cents for order 1001", 700],
  ])("reads the order and the amount of %s", (text, amountCents) => {
    expect(inputsOf(text, [LOOKUP, REFUND])).toEqual([{ orderId: "1001", amountCents }]);
  });

  it("asks for the amount, and goes on looking orders up", () => {
    const unclear = say("refund order 1001", [LOOKUP, REFUND]);
    expect(unclear.calls).toEqual([]);
    expect(unclear.text).toMatch(/^How much should I refund/);
    expect(inputsOf("where is order 1001?", [LOOKUP, REFUND])).toEqual([{ orderId: "1001" }]);
  });

  const changes = (words: string) =>
    [
      "⟦Outcome of an action. The application says this, no person wrote it.⟧",
      "Action: refund_order",
      'Input: {"orderId":"1001","amountCents":6000}',
      `Decision: Changes wanted by Ada. Their words: ${JSON.stringify(words)}. It did not run.`,
      'Result: "The action did not run."',
    ].join("\n");

  it("says what became of it, and calls nothing", () => {
    const outcome = [
      "⟦Outcome of an action. The application says this, no person wrote it.⟧",
      "Action: refund_order",
      'Input: {"orderId":"1001","amountCents":6000}',
    ].join("\n");
    const done = `${outcome}\nDecision: Approved by Ada. It has run.\nResult: {"refund":{"id":"R-1","status":"refunded"}}`;
    expect(say(done, [LOOKUP, REFUND])).toEqual({
      text: "Approved by Ada.\n\nRefund **R-1** is **refunded**.",
      calls: [],
    });
    const rejected = `${outcome}\nDecision: Rejected by Ada. It did not run.\nResult: "The action did not run."`;
    expect(say(rejected, [LOOKUP, REFUND]).text).toBe("Rejected by Ada.\n\nThe action did not run.");
  });

  it.each<[string, ActionFailure]>([
    ["is not allowed", notAuthorized(["billing"], "Ask our team.")],
    [
      "has nobody to ask",
      nobodyToAsk("Nobody may agree to this. Tell the person, and that the team must name somebody."),
    ],
    ["has begun before", stillPending()],
    ["has no known end", outcomeUnknown()],
    ["has changed since", consentOutdated()],
  ])("says to people only what is for people when a call %s", (_why, failure) => {
    const told = say(
      [
        "⟦Outcome of an action. The application says this, no person wrote it.⟧",
        "Action: refund_order",
        'Input: {"orderId":"1001"}',
        "Decision: Approved by Ada. It did not work.",
        `Result: ${JSON.stringify(failure)}`,
      ].join("\n"),
    ).text;
    expect(told).not.toMatch(/Do not|Say that|Ask whether|Tell the/);
    expect(told.length).toBeGreaterThan("Approved by Ada.".length + 20);
  });

  it.each([
    ["only 55 €", { orderId: "1001", amountCents: 5500 }],
    ['Refund 55 € for order 1002, "please"', { orderId: "1002", amountCents: 5500 }],
  ])("proposes what somebody wants instead: %s", (words, input) => {
    expect(say(changes(words), [LOOKUP, REFUND]).calls).toMatchObject([{ toolName: "refund_order", input }]);
  });

  it("asks what should change if nobody has said it yet", () => {
    const decided = changes("").replace(' Their words: "".', "");
    expect(say(decided, [LOOKUP, REFUND]).text).toBe(
      "What should change? Please reply to the request with it.",
    );
  });

  it("asks again if it does not understand the changes", () => {
    const { calls, text } = say(changes("less, please"), [LOOKUP, REFUND]);
    expect(calls).toEqual([]);
    expect(text).toContain("Changes wanted by Ada.");
  });
});

describe("the demo model with the tools of the support bot", () => {
  const typeOf = (name: string): "array" | "integer" | "string" => {
    if (name.endsWith("Ids")) return "array";
    return name.endsWith("Cents") ? "integer" : "string";
  };
  const made = (name: string, ...required: string[]): LanguageModelV4FunctionTool => {
    const properties = Object.fromEntries(required.map((one) => [one, { type: typeOf(one) }] as const));
    return { type: "function", name, inputSchema: { type: "object", properties, required } };
  };
  const TOOLS = [
    made("track", "id"),
    made("lookup_order", "id"),
    made("find_shop"),
    made("opening_hours"),
    made("list_products"),
    made("refund_order", "orderId", "amountCents"),
    made("cancel_order", "orderId"),
    made("change_address", "orderId", "address"),
    made("send_invoice", "orderId"),
    made("send_photo", "orderId"),
    made("draft_email", "orderId"),
    made("voice_summary", "orderId"),
    made("export_invoices", "orderIds"),
    made("set_context", "label", "content"),
    made("list_schedules"),
    made("cancel_schedule", "id"),
    made("run_schedule_now", "id"),
  ];
  const orderId = "1002";

  it.each([
    ["Where is order 1002?", "lookup_order", { id: "1002" }],
    ["Where is my order A1002?", "lookup_order", { id: "A1002" }],
    ["Where is A-1002?", "lookup_order", { id: "A-1002" }],
    ["track order 1002", "track", { id: "1002" }],
    ["Where are you?", "find_shop", {}],
    ["Where is your shop?", "find_shop", {}],
    ["are you open today?", "opening_hours", {}],
    ["When do you close?", "opening_hours", {}],
    ["What do you sell?", "list_products", {}],
    ["cancel order 1002", "cancel_order", { orderId }],
    ["Please cancel my order 1002!", "cancel_order", { orderId }],
    ["refund 60 € for order 1002", "refund_order", { orderId, amountCents: 6000 }],
    [
      "change the address of order 1002 to 5 Main St., Berlin.",
      "change_address",
      { orderId, address: "5 Main St., Berlin" },
    ],
    ["send me the invoice for order 1002", "send_invoice", { orderId }],
    ["export the invoices of orders 1001 and 1002", "export_invoices", { orderIds: ["1001", orderId] }],
    ["Send me a photo of order 1002", "send_photo", { orderId }],
    ["draft an e-mail about order 1002", "draft_email", { orderId }],
    ["voice summary of order 1002", "voice_summary", { orderId }],
    [
      "Please remember that my size is M.",
      "set_context",
      { label: "customer", content: "my size is M", quote: "my size is M" },
    ],
  ])("understands %j", (text, toolName, input) => {
    expect(say(text, TOOLS).calls).toMatchObject([{ toolName, input }]);
  });

  it("sends the photos of several orders at once, which are an album", () => {
    expect(inputsOf("photos of the orders 1001 and 1003", TOOLS)).toEqual([
      { orderId: "1001" },
      { orderId: "1003" },
    ]);
  });
});

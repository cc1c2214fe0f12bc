import { describe, expect, it } from "vitest";
import { STEP_BREAK } from "../../../src/core/turn/step-break.ts";
import { cleanText } from "../../../src/outgoing/index.ts";
import { inChunks, streamThrough } from "./stream-through.ts";

/** [the model or server that leaks it, its text, what a person reads] */
const LEAKS: readonly (readonly [string, string, string])[] = [
  ["R1, Qwen: thinking", "<think>\nHm, 2+2.\n</think>\n\nIt is 4.", "It is 4."],
  ["R1: prefilled thinking", "Okay, the user asks.\n</think>\n\nIt is 4.", "It is 4."],
  ["Qwen: a closing tag after the answer", "<think>x</think>One.</think>Two.", "One.Two."],
  ["Qwen: empty thinking", "<think>\n\n</think>\n\nHello!", "Hello!"],
  ["cut off while it thinks", "<think>\nOkay, the user wants", ""],
  ["cut off in a later thought", "Let me see.\n\n<think>Okay", "Let me see."],
  ["cut off inside a tag", "Done.\n<tool_ca", "Done."],
  ["thinking in the middle", "One. <thinking>hm</thinking> Two.", "One. Two."],
  ["another letter case", "<Think>x</THINK>Yes.", "Yes."],
  ["another letter case behind a word", "So <Think>x</Think>yes<think>x</think>.", "So yes."],
  ["mixed names", "<think>x</thinking>Yes.", "Yes."],
  ["thought", "<thought>x</thought>Yes.", "Yes."],
  ["Reflection: nested", "<thinking>a <reflection>b</reflection> c</thinking>\n<output>42</output>", "42"],
  ["Reflection alone", "<reflection>b</reflection>42", "42"],
  ["a thought in a thought", "<think>a <think>b</think> c</think>Yes.", "Yes."],
  ["a thought that names its end", "A\n\n<think>a `</think>` b\n</think>\nYes.", "A\n\nYes."],
  ["a thought that names its beginning", "<think>a `<think>` b</think>Yes.", "Yes."],
  ["a thought after one in a thought", "<think><think></think>a</think>B<think>c</think>D", "BD"],
  ["reasoning", "<reasoning>x</reasoning>\n42", "42"],
  ["reasoning with attributes", '<reasoning effort="high">x</reasoning>\n42', "42"],
  ["scratchpad", "A\n\n<scratchpad>\nx\n</scratchpad>\n\nB", "A\n\nB"],
  ["answer wrapper", "<think>x</think>\n<answer>42</answer>", "42"],
  ["Seed", "<seed:think>x</seed:think>42", "42"],
  ["MiniMax: thinking", "<mm:think>x</mm:think>42", "42"],
  ["Kimi: thinking", "◁think▷x◁/think▷42", "42"],
  ["Kimi: prefilled thinking", "hm◁/think▷42", "42"],
  ["Magistral", "[THINK]x[/THINK]42", "42"],
  ["Command", "<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>42<|END_RESPONSE|>", "42"],
  ["Sky", "<|begin_of_thought|>x<|end_of_thought|>\n\n<|begin_of_solution|>42<|end_of_solution|>", "42"],
  ["Gemma: channel", "<|channel>thought\nx\n<channel|>42<turn|>", "42"],
  ["Gemma: channel without a line", "<|channel>thoughtHm.<channel|>42", "42"],
  ["Gemma: prefilled channel", "Hm, let me see.<channel|>42", "42"],
  ["Gemma: tool call", '<|tool_call>call:f{a:<|"|>b<|"|>}<tool_call|>42', "42"],
  ["MedGemma", "<unused94>thought\nx<unused95>42", "42"],
  [
    "gpt-oss: channels",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>",
    "42",
  ],
  [
    "gpt-oss: tool call",
    'Wait.<|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"a":1}<|call|>',
    "Wait.",
  ],
  [
    "gpt-oss: tool result",
    "<|start|>functions.find to=assistant<|channel|>commentary<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>42",
    "42",
  ],
  ["gpt-oss: cut off in analysis", "<|channel|>analysis<|message|>Hm", ""],
  ["Hermes: tool call", 'Sure.\n<tool_call>\n{"name": "f"}\n</tool_call>', "Sure."],
  ["Qwen coder", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", ""],
  ["Qwen coder: only the end", "Sure.\n</parameter>\n</function>\n</tool_call>", "Sure."],
  ["Llama: function tag", 'Sure. <function=f>{"a": 1}</function> Done.', "Sure. Done."],
  ["GLM", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>42", "42"],
  ["GLM: only arguments", "<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>42", "42"],
  ["invoke", '<function_calls>\n<invoke name="f">\n</invoke>\n</function_calls>\n\n42', "42"],
  ["invoke alone", 'A <invoke name="f"><parameter name="a">1</parameter></invoke> B', "A B"],
  ["results", "<function_results>x</function_results><tool_response>y</tool_response>42", "42"],
  ["MiniMax: tool call", '<minimax:tool_call>\n<invoke name="f">\n</invoke>\n</minimax:tool_call>42', "42"],
  ["Nemotron", '<TOOLCALL>[{"name": "f"}]</TOOLCALL>42', "42"],
  ["Mistral: tool call", 'Sure.[TOOL_CALLS][{"name": "f", "arguments": {}}]', "Sure."],
  ["Mistral: tool call with arguments", '[TOOL_CALLS]f[ARGS]{"a": 1}</s>', ""],
  ["Mistral: a turn of its own", "42</s>[INST] And 3+3? [/INST] 6", "42 6"],
  ["Llama: python tag", '<|python_tag|>f.call(query="x")<|eom_id|>', ""],
  ["Llama: header", "<|start_header_id|>assistant<|end_header_id|>\n\n42<|eot_id|>", "42"],
  ["Llama: python tag, then more", "<|python_tag|>f()<|eom_id|>\n\n42", "42"],
  [
    "DeepSeek: tool call",
    "Sure.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "Sure.",
  ],
  [
    "DeepSeek: its own markup",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>42',
    "42",
  ],
  [
    "DeepSeek: double bars",
    '<｜｜DSML｜｜tool_calls> <｜｜DSML｜｜invoke name="f"></｜｜DSML｜｜tool_calls>42',
    "42",
  ],
  ["DeepSeek: other bars", "<‖DSML‖tool_calls>x</‖DSML‖tool_calls>42", "42"],
  [
    "Kimi: tool call",
    "A <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    "A",
  ],
  ["LFM", "<|tool_call_start|>[f(a=1)]<|tool_call_end|>42", "42"],
  ["Granite", '<|tool_call|>[{"name": "f"}]<|end_of_text|>', ""],
  ["Phi", '<|tool_call|>[{"name": "f"}]<|/tool_call|><|end|>42', "42"],
  ["ChatML: markers", "<|im_start|>assistant\n42<|im_end|>", "42"],
  [
    "ChatML: a conversation made up",
    "42<|im_end|>\n<|im_start|>user\nAnd 3+3?<|im_end|>\n<|im_start|>assistant\n6<|im_end|>",
    "42\n6",
  ],
  ["Zephyr: a conversation made up", "42<|end|>\n<|user|>\nAnd 3+3?", "42"],
  ["Gemma: turns", "<start_of_turn>model\n42<end_of_turn>\n<eos>", "42"],
  ["Granite: role", "<|start_of_role|>assistant<|end_of_role|>42<|end_of_text|>", "42"],
  ["end of text", "42<|endoftext|>", "42"],
  ["end of a sequence", "42</s>", "42"],
  ["a marker behind a code block", "```js\n1 + 2\n```<|im_end|>", "```js\n1 + 2\n```"],
  [
    "Llama: a tool call that ends with the next turn",
    "Sure.\n<|python_tag|>f()<|start_header_id|>assistant<|end_header_id|>\n\n42",
    "Sure.\n\n42",
  ],
  ["a thought about markers", "<think>the <|im_start|>user\n token</think>42", "42"],
  ["ChatML: no role", "<|im_start|>42, of course.\nYes.", "42, of course.\nYes."],
  ["a marker nobody knows", "4<|some_new_token|>2", "42"],
];

const ORDINARY: readonly string[] = [
  "a < b and b > c, 1 <3, x<y",
  "<div>hello</div><br/><b>bold</b> <details>",
  "<thinker> <thinkpad/> </tools> <toolbox> <invoked> <final>x</final> <answer>y</answer>",
  "I was <think about it> there",
  "A Promise<Thought>, a Map_2<Reasoning> or Vec<Invoke>: choose one.",
  "f <| g |> h, a <|> b, x || y, <| >",
  "[1] [a](b) [x] [TOOL] [INSTALL] [[page]]",
  "Use `<think>` and `</think>`; ``a ` <tool_call>`` too.",
  "```xml\n<think>x</think>\n<tool_call>{}</tool_call>\n```\n<b>after</b>",
  "~~~\n<|im_start|>user\n~~~",
  "````md\n```\n<think>\n```\n````",
  "- item\n\n  ```xml\n  </think>\n  ```\n- next",
  "> ```\n> <think>\n> ```\n\nand on",
  "1. ```\n   [TOOL_CALLS]\n   ```",
  "Write \\<think> to show the tag.",
  "<s>struck</s> and <s>again</s>",
  "\n\n  leading, \t trailing  \n\n\n\ndouble  \n",
  "An open fence\n```\n<think>",
  "```a `` <think>x</think> ``` b",
  "```inline ``` fence `<think>` of three",
  "<",
  "a <b",
  "wait [",
  "",
];

describe("cleanText", () => {
  it.each(LEAKS)("takes out what leaks: %s", (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  it.each(LEAKS)("never shows a marker while it streams by character: %s", (_, text) => {
    const { shown } = streamThrough(inChunks(text, 1), { silence: false });
    for (const visible of shown) expect(visible).not.toMatch(/[<[◁]/u);
  });

  it.each(ORDINARY)("leaves ordinary text as it is: %j", (text) => {
    expect(cleanText(text)).toBe(text);
  });

  it("does not protect a tag on a later line than a lone backtick", () => {
    expect(cleanText("the ` key\n<think>x</think>42")).toBe("the ` key\n42");
  });

  it("takes up a thought again after the quote that held an open fence", () => {
    expect(cleanText("> ```\n> code\n\n<think>x</think>42")).toBe("> ```\n> code\n\n42");
  });

  it.each([
    ["A\n\n<think>x</think>\n\nB", "A\n\nB"],
    ["A\n<think>x</think>\nB", "A\nB"],
    ["A <think>x</think> B", "A B"],
    ["A<think>x</think>B", "AB"],
    ["A\n\n<think>x</think>\n\n<tool_call>y</tool_call>\n\n\nB", "A\n\nB"],
    ["- a\n<think>x</think>\n  - b", "- a\n  - b"],
    ["\n <think>x</think>\n\n  B", "B"],
    ["A <think>x</think>\n", "A"],
  ])("closes the gap in %j", (text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  it("knows the code that follows a turn's marker", () => {
    expect(cleanText("<|im_start|>```xml\n<think>\n```")).toBe("```xml\n<think>\n```");
  });

  it("leaves an answer's wrapper as it is where the thought belonged to another step", () => {
    const text = `<think>x</think><answer>1${STEP_BREAK}\n\n2</answer>`;
    expect(cleanText(text)).toBe("1\n\n2</answer>");
  });

  it("ends what one model call left open where the next begins", () => {
    const text = `I look.\n<tool_call>{"a"${STEP_BREAK}\n\nhm</think>Found.${STEP_BREAK}\n\n\`\`\`${STEP_BREAK}\n\n<think>x`;
    expect(cleanText(text)).toBe("I look.\n\nFound.\n\n```");
  });
});

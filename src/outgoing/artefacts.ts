/**
 * Meaning of a marker that models leak into their text when a server's parser misses it. The markers come from the chat
 * templates of the models and from reports about their servers.
 */
export type Meaning =
  /** The text is not for people, up to the `close` of the same block. */
  | { readonly kind: "open"; readonly block: string }
  | { readonly kind: "close"; readonly block: string }
  /** A turn or channel begins. Its name follows and decides whether its text is for people. */
  | { readonly kind: "head" }
  | { readonly kind: "head-end" }
  /** A turn of another speaker, which the model made up. */
  | { readonly kind: "foreign" }
  /** A turn ends, with everything open in it. */
  | { readonly kind: "end" }
  /** The wrapper of an answer, which models write after their thinking. It is ordinary text elsewhere. */
  | { readonly kind: "wrapper"; readonly isClosing: boolean; readonly name: string }
  /** HTML's strikethrough. Its closing tag is also a token that ends a text. */
  | { readonly kind: "strike"; readonly isClosing: boolean }
  /** The marker is removed; the text around it stays. */
  | { readonly kind: "mark" };

/** The written form of a marker, which tells markers of the same name apart. */
export type MarkerForm = "open" | "close" | "self-closing";

/** Block of a made-up turn, or of a channel that is not for people. */
export const FOREIGN_BLOCK = "turn";

const THINKING_NAMES: Readonly<Record<string, string>> = {
  think: "think",
  thinking: "think",
  thought: "think",
  thoughts: "think",
  antthinking: "think",
  "antml:thinking": "think",
  "seed:think": "think",
  "mm:think": "think",
  reasoning: "reasoning",
  reflection: "reflection",
  scratchpad: "scratchpad",
  unused94: "unused",
};

const TOOL_NAMES: readonly string[] = [
  "tool_call",
  "tool_calls",
  "toolcall",
  "tool_use",
  "tool_code",
  "tool_response",
  "tool_responses",
  "tool_result",
  "tool_results",
  "tool_output",
  "tool_outputs",
  "function_call",
  "function_calls",
  "function_response",
  "function_result",
  "function_results",
  "invoke",
  "arg_key",
  "arg_value",
  "minimax:tool_call",
  "seed:tool_call",
  "seed:cot_budget_reflect",
  "xai:function_call",
  "antml:function_calls",
  "antml:invoke",
  "antml:parameter",
];

/** Names of which only the closing tag and the form `<function=name>` are artefacts. */
const ASSIGNED_NAMES: ReadonlySet<string> = new Set(["function", "parameter"]);
const WRAPPER_NAMES: ReadonlySet<string> = new Set([
  "answer",
  "final",
  "final_answer",
  "output",
  "response",
  "solution",
]);
const TOOL_NAME_SET: ReadonlySet<string> = new Set(TOOL_NAMES);

const OTHER_NAMES: Readonly<Record<string, Meaning>> = {
  bos: { kind: "mark" },
  eos: { kind: "end" },
  start_of_turn: { kind: "head" },
  end_of_turn: { kind: "end" },
  unused95: { kind: "close", block: "unused" },
};

const THINKING_BLOCKS: ReadonlySet<string> = new Set([
  ...Object.values(THINKING_NAMES),
  "channel",
  "start_thinking",
  "begin_of_thought",
  "THINK",
]);

/** True if a block holds a model's thoughts. Its closing marker alone shows that all text before it was thinking. */
export function isThinkingBlock(block: string): boolean {
  return THINKING_BLOCKS.has(block);
}

/** Meaning of `<name>`, `</name>` or `<name/>`; undefined for ordinary text. `name` is in lower case. */
export function tagMeaning(name: string, form: MarkerForm): Meaning | undefined {
  const other = OTHER_NAMES[name];
  if (other !== undefined) return other;
  const block = THINKING_NAMES[name] ?? (TOOL_NAME_SET.has(name) ? name : undefined);
  if (block !== undefined) return form === "self-closing" ? { kind: "mark" } : { kind: form, block };
  if (ASSIGNED_NAMES.has(name)) return form === "close" ? { kind: "close", block: name } : undefined;
  if (form === "self-closing") return undefined;
  if (WRAPPER_NAMES.has(name)) return { kind: "wrapper", isClosing: form === "close", name };
  if (name === "s") return { kind: "strike", isClosing: form === "close" };
  return undefined;
}

/** Meaning of `<function=name>`. */
export function assignedTagMeaning(name: string): Meaning | undefined {
  return ASSIGNED_NAMES.has(name) ? { kind: "open", block: name } : undefined;
}

/** Meaning of a tag in DeepSeek's own markup, `<｜DSML｜invoke name="x">`. Every such tag is an artefact. */
export function dsmlMeaning(name: string, form: MarkerForm): Meaning {
  return form === "self-closing" ? { kind: "mark" } : { kind: form, block: `dsml:${name}` };
}

/** Special tokens `<|name|>`: the block that each opens, and the token that closes it. */
const TOKEN_BLOCKS: readonly (readonly [opening: string, closing: string])[] = [
  ["tool_calls_begin", "tool_calls_end"],
  ["tool_call_begin", "tool_call_end"],
  ["tool_outputs_begin", "tool_outputs_end"],
  ["tool_output_begin", "tool_output_end"],
  ["tool_calls_section_begin", "tool_calls_section_end"],
  ["tool_call_start", "tool_call_end"],
  ["tool_response_start", "tool_response_end"],
  ["tool_call", "/tool_call"],
  ["tool_response", "/tool_response"],
  ["think", "/think"],
  ["start_thinking", "end_thinking"],
  ["start_action", "end_action"],
  ["start_tool_result", "end_tool_result"],
  ["begin_of_thought", "end_of_thought"],
  ["python_tag", "eom_id"],
];

const END_TOKENS: ReadonlySet<string> = new Set([
  "im_end",
  "eot_id",
  "eom_id",
  "eot",
  "eom",
  "eos",
  "end",
  "return",
  "call",
  "endoftext",
  "end_of_text",
  "end_of_turn",
  "end_of_sentence",
  "end_of_turn_token",
  "assistant",
]);
const HEAD_TOKENS: ReadonlySet<string> = new Set([
  "im_start",
  "start_header_id",
  "start_of_role",
  "start",
  "channel",
]);
const HEAD_END_TOKENS: ReadonlySet<string> = new Set(["end_header_id", "end_of_role", "message"]);
const FOREIGN_TOKENS: ReadonlySet<string> = new Set(["user", "system", "tool", "observation", "function"]);

/** The block of each opening token. It is named after the closing token, because two opening tokens may share one. */
const OPENING_TOKENS = new Map(
  TOKEN_BLOCKS.map(([opening, closing]) => [opening, blockOfToken(opening, closing)]),
);
const CLOSING_TOKENS = new Map(
  TOKEN_BLOCKS.map(([opening, closing]) => [closing, blockOfToken(opening, closing)]),
);

function blockOfToken(opening: string, closing: string): string {
  if (opening === "think") return "think";
  return THINKING_BLOCKS.has(opening) ? opening : closing;
}

/** Meaning of `<|name|>`, also with other bars. Never undefined, because people do not write such tokens. */
export function tokenMeaning(token: string): Meaning {
  const name = token.toLowerCase().replaceAll("▁", "_");
  const opened = OPENING_TOKENS.get(name);
  if (opened !== undefined) return { kind: "open", block: opened };
  if (END_TOKENS.has(name)) return { kind: "end" };
  const closed = CLOSING_TOKENS.get(name);
  if (closed !== undefined) return { kind: "close", block: closed };
  if (HEAD_TOKENS.has(name)) return { kind: "head" };
  if (HEAD_END_TOKENS.has(name)) return { kind: "head-end" };
  if (FOREIGN_TOKENS.has(name)) return { kind: "foreign" };
  return { kind: "mark" };
}

/** Tokens that open as `<|name>` and close as `<name|>`. */
const ONE_BAR_OPENING: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["channel", { kind: "open", block: "channel" }],
  ["tool_call", { kind: "open", block: "tool_call" }],
  ["tool_response", { kind: "open", block: "tool_response" }],
  ["turn", { kind: "head" }],
]);
const ONE_BAR_CLOSING: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["channel", { kind: "close", block: "channel" }],
  ["tool_call", { kind: "close", block: "tool_call" }],
  ["tool_response", { kind: "close", block: "tool_response" }],
  ["turn", { kind: "end" }],
]);

export function oneBarMeaning(name: string, form: "open" | "close"): Meaning | undefined {
  return (form === "open" ? ONE_BAR_OPENING : ONE_BAR_CLOSING).get(name);
}

/** Markers with one fixed spelling. */
export const LITERAL_MARKERS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["[TOOL_CALLS]", { kind: "open", block: "TOOL_CALLS" }],
  ["[/TOOL_CALLS]", { kind: "close", block: "TOOL_CALLS" }],
  ["[TOOL_RESULTS]", { kind: "open", block: "TOOL_RESULTS" }],
  ["[/TOOL_RESULTS]", { kind: "close", block: "TOOL_RESULTS" }],
  ["[AVAILABLE_TOOLS]", { kind: "open", block: "AVAILABLE_TOOLS" }],
  ["[/AVAILABLE_TOOLS]", { kind: "close", block: "AVAILABLE_TOOLS" }],
  ["[INST]", { kind: "foreign" }],
  ["[/INST]", { kind: "end" }],
  ["[THINK]", { kind: "open", block: "THINK" }],
  ["[/THINK]", { kind: "close", block: "THINK" }],
  ["◁think▷", { kind: "open", block: "think" }],
  ["◁/think▷", { kind: "close", block: "think" }],
]);

/** All beginnings of tag names, to recognize a name that is still being written. */
export const NAME_PREFIXES: ReadonlySet<string> = prefixesOf([
  ...Object.keys(THINKING_NAMES),
  ...TOOL_NAMES,
  ...ASSIGNED_NAMES,
  ...WRAPPER_NAMES,
  ...Object.keys(OTHER_NAMES),
  ...ONE_BAR_CLOSING.keys(),
  "s",
]);

export const LITERAL_PREFIXES: ReadonlySet<string> = prefixesOf(LITERAL_MARKERS.keys());

function prefixesOf(words: Iterable<string>): ReadonlySet<string> {
  const prefixes = new Set<string>();
  for (const word of words)
    for (let length = 1; length <= word.length; length++) prefixes.add(word.slice(0, length));
  return prefixes;
}

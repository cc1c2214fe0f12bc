import type { TextContext } from "../core/delivery.ts";
import { joinParagraphs } from "./join-paragraphs.ts";
import { Opening, silenceSignal } from "./silence.ts";
import type { SilenceSignal } from "./silence.ts";
import { TextCleaner } from "./text-cleaner.ts";

/** Whom a text is for. */
export type OutgoingContext = TextContext;

export interface OutgoingOptions {
  /**
   * How a model says that it wants to say nothing. The signal is never shown; `false`: there is none.
   * @default { signal: "[[silence]]" }
   */
  readonly silence?: { readonly signal?: string } | false;
  /** Whether thinking, tool calls and control tokens that a model leaked are taken out. @default true */
  readonly removeArtefacts?: boolean;
  /**
   * Changes every text before it is shown. It gets the whole text so far, often and each time longer, so it has to be
   * quick and should give the same beginning for the same beginning. If it throws, the text is shown as it was.
   */
  readonly transform?: (text: string, context: OutgoingContext) => string;
  /** A last paragraph of the complete text. None when blank, after silence, and after an empty text. */
  readonly footer?: string | ((context: OutgoingContext) => string | undefined);
  /** Hears what `transform` and `footer` threw: once for each in a reply. Must not throw. */
  readonly onError?: (error: unknown, thrower: "transform" | "footer") => void;
}

export interface TextSink {
  append(delta: string): void;
  /** What was shown is void; this is the text now. */
  replace(text: string): void;
  /** What was shown stays until the text that replaces it is as long or whole. */
  interrupt(): void;
}

/** - `silent`: the model chose to say nothing; the text may be blank when it said nothing that is for people */
export type OutgoingResult = { readonly kind: "text"; readonly text: string } | { readonly kind: "silent" };

/** One reply on its way from the model to people. */
export interface OutgoingText {
  /** More of the model's text. Hands on what is safe to show. */
  append(delta: string): void;
  /** The text so far was void; this is the text now. The sink learns of it with the first text that is for people. */
  replace(text: string): void;
  /** The model call was cut short and is made again. */
  interrupt(): void;
  /** What people see in the end of the model's whole text. Tells the sink nothing, and ends the stream. */
  finish(text: string): OutgoingResult;
  /**
   * What people see of a text that was cut short: as far as it could be shown while it streamed, so that nothing of a
   * signal or a tag that had only begun is in it. It has no footer. Tells the sink nothing, and ends the stream.
   */
  fragment(text: string): string;
}

/**
 * The last boundary between a model's text and what people see. What a sink is shown while a text streams is the
 * beginning of what `finish` gives for it, except where it is told to replace it.
 * @throws {ConfigurationError} when the silence signal cannot be used
 */
export function createOutgoingText(
  options: OutgoingOptions,
  context: OutgoingContext,
  sink: TextSink,
): OutgoingText {
  return new Outgoing(options, context, sink);
}

/** A whole text without what models leak. */
export function cleanText(text: string): string {
  return cleaned(text, true, undefined).text;
}

class Outgoing implements OutgoingText {
  readonly #options: OutgoingOptions;
  readonly #context: OutgoingContext;
  readonly #sink: TextSink;
  readonly #signal: SilenceSignal | undefined;
  #stream: VisibleStream;
  /** What the sink shows. */
  #shown = "";
  /** Whether the sink shows something else, and has to be told with the next text. */
  #isVoid = false;
  #hasEnded = false;
  readonly #reported = new Set<string>();

  constructor(options: OutgoingOptions, context: OutgoingContext, sink: TextSink) {
    this.#options = options;
    this.#context = context;
    this.#sink = sink;
    this.#signal = silenceSignal(options.silence);
    this.#stream = this.#newStream();
  }

  append(delta: string): void {
    if (this.#hasEnded) return;
    this.#stream.append(delta);
    this.#flush();
  }

  replace(text: string): void {
    if (this.#hasEnded) return;
    this.#isVoid = true;
    this.#stream = this.#newStream();
    this.append(text);
  }

  interrupt(): void {
    if (!this.#hasEnded) this.#sink.interrupt();
  }

  finish(text: string): OutgoingResult {
    this.#hasEnded = true;
    const { text: visible, isSilent } = cleaned(text, this.#removeArtefacts, this.#signal);
    if (isSilent && !this.#context.event.thread.isDirectMessage) return { kind: "silent" };
    if (isSilent || visible.trim() === "") return { kind: "text", text: "" };
    const said = this.#transform(visible);
    return { kind: "text", text: said.trim() === "" ? said : joinParagraphs(said, this.#footer()) };
  }

  fragment(text: string): string {
    this.#hasEnded = true;
    const stream = this.#newStream();
    stream.append(text);
    return stream.text.trim() === "" ? "" : this.#transform(stream.text);
  }

  get #removeArtefacts(): boolean {
    return this.#options.removeArtefacts ?? true;
  }

  #newStream(): VisibleStream {
    return new VisibleStream(this.#removeArtefacts, this.#signal);
  }

  #flush(): void {
    const { fresh, isShortened } = this.#stream.take();
    if (isShortened) this.#isVoid = true;
    if (fresh === "" && !(this.#isVoid && this.#stream.text !== "")) return;
    if (this.#options.transform === undefined) return this.#tell(this.#stream.text, fresh);
    const text = this.#transform(this.#stream.text);
    const isLonger = !this.#isVoid && text.startsWith(this.#shown);
    if (!isLonger) this.#isVoid = true;
    this.#tell(text, isLonger ? text.slice(this.#shown.length) : text);
  }

  #tell(text: string, fresh: string): void {
    if (this.#isVoid) {
      if (text.trim() === "") return;
      this.#sink.replace(text);
    } else if (fresh !== "") {
      this.#sink.append(fresh);
    }
    this.#isVoid = false;
    this.#shown = text;
  }

  #transform(text: string): string {
    const { transform } = this.#options;
    if (transform === undefined) return text;
    return this.#guarded("transform", () => asText(transform(text, this.#context))) ?? text;
  }

  #footer(): string {
    const { footer } = this.#options;
    if (typeof footer !== "function") return footer ?? "";
    return this.#guarded("footer", () => asText(footer(this.#context) ?? "")) ?? "";
  }

  #guarded(name: "transform" | "footer", make: () => string): string | undefined {
    try {
      return make();
    } catch (error) {
      if (!this.#reported.has(name)) this.#options.onError?.(error, name);
      this.#reported.add(name);
      return undefined;
    }
  }
}

/** The visible text of one attempt, as far as it is safe to show. */
class VisibleStream {
  readonly #cleaner: TextCleaner;
  #opening: Opening;
  #text = "";
  #fresh = "";
  #isShortened = false;

  constructor(removeArtefacts: boolean, signal: SilenceSignal | undefined) {
    this.#opening = new Opening(signal);
    this.#cleaner = new TextCleaner(
      { removeArtefacts, signal, maySignal: () => this.#opening.state === "undecided" },
      {
        append: (piece) => this.#add(this.#opening.push(piece)),
        shorten: (length) => this.#shorten(length),
      },
    );
  }

  get text(): string {
    return this.#text;
  }

  append(delta: string): void {
    this.#cleaner.append(delta);
  }

  end(): { readonly text: string; readonly isSilent: boolean } {
    this.#cleaner.end();
    this.#add(this.#opening.end());
    return { text: this.#text, isSilent: this.#opening.state === "silent" };
  }

  /** What is new since the last call. */
  take(): { readonly fresh: string; readonly isShortened: boolean } {
    const taken = { fresh: this.#fresh, isShortened: this.#isShortened };
    this.#fresh = "";
    this.#isShortened = false;
    return taken;
  }

  #add(text: string): void {
    this.#text += text;
    this.#fresh += text;
  }

  #shorten(length: number): void {
    const shownLength = this.#text.length - this.#fresh.length;
    this.#opening = this.#opening.shortened(length);
    this.#text = this.#text.slice(0, length);
    this.#fresh = this.#text.slice(shownLength);
    if (shownLength > length) this.#isShortened = true;
  }
}

function cleaned(
  text: string,
  removeArtefacts: boolean,
  signal: SilenceSignal | undefined,
): { readonly text: string; readonly isSilent: boolean } {
  const stream = new VisibleStream(removeArtefacts, signal);
  stream.append(text);
  return stream.end();
}

function asText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`Expected a text, got ${typeof value}.`);
  return value;
}

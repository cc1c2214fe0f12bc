import type { TextContext } from "../core/chat/delivery.ts";
import { joinParagraphs } from "./join-paragraphs.ts";
import { Opening, silenceSignal, type SilenceSignal } from "./silence.ts";
import { TextCleaner } from "./text-cleaner.ts";

/** The event that a text answers, and the person's language. */
export type OutgoingContext = TextContext;

export interface OutgoingOptions {
  /**
   * Signal with which a model says nothing. It is never shown. `false` switches silence off.
   * @default { signal: "[[silence]]" }
   */
  readonly silence?: { readonly signal?: string } | false;
  /** Whether to remove thinking, tool calls and control tokens that a model leaked. @default true */
  readonly removeArtefacts?: boolean;
  /**
   * Changes every text before it is shown. If it throws, the text is shown unchanged.
   *
   * It is called often while a text streams, each time with the whole text so far. It must be fast, and should return
   * the same beginning for the same beginning.
   */
  readonly transform?: (text: string, context: OutgoingContext) => string;
  /** Last paragraph of the complete text. There is none if it is blank, after silence, and after an empty text. */
  readonly footer?: string | ((context: OutgoingContext) => string | undefined);
  /** Called with an error that `transform` or `footer` threw, once for each of them in a reply. Must not throw. */
  readonly onError?: (error: unknown, thrower: "transform" | "footer") => void;
}

export interface TextSink {
  append(delta: string): void;
  /** Replaces everything shown so far. */
  replace(text: string): void;
  /** Keeps the shown text until the text that replaces it is as long or complete. */
  interrupt(): void;
}

/**
 * The final text for people. It may be blank, if the model wrote nothing for people. `silent`: the model chose to say
 * nothing.
 */
export type OutgoingResult = { readonly kind: "text"; readonly text: string } | { readonly kind: "silent" };

/** Removes the artefacts that models leak from a whole text. */
export function cleanText(text: string): string {
  return cleaned(text, true, undefined).text;
}

/**
 * One reply on its way from the model to people.
 *
 * The text passed to the sink while streaming is the beginning of the text that `finish` returns, unless the sink is
 * told to replace it.
 */
export class OutgoingText {
  readonly #options: OutgoingOptions;
  readonly #context: OutgoingContext;
  readonly #sink: TextSink;
  readonly #signal: SilenceSignal | undefined;
  #stream: VisibleStream;
  /** The text that the sink shows. */
  #shown = "";
  /** True if the sink shows an outdated text, which the next text replaces. */
  #isVoid = false;
  #hasEnded = false;
  readonly #reported = new Set<string>();

  /** @throws {ConfigurationError} when the silence signal cannot be used */
  constructor(options: OutgoingOptions, context: OutgoingContext, sink: TextSink) {
    this.#options = options;
    this.#context = context;
    this.#sink = sink;
    this.#signal = silenceSignal(options.silence);
    this.#stream = this.#newStream();
  }

  /** Adds text of the model. Passes on the part that is safe to show. */
  append(delta: string): void {
    if (this.#hasEnded) return;
    this.#stream.append(delta);
    this.#flush();
  }

  /** Replaces the text so far. The sink is told when the new text has something for people. */
  replace(text: string): void {
    if (this.#hasEnded) return;
    this.#isVoid = true;
    this.#stream = this.#newStream();
    this.append(text);
  }

  /** Reports that the model call was cut short and is made again. */
  interrupt(): void {
    if (!this.#hasEnded) this.#sink.interrupt();
  }

  /**
   * Returns the text that people see in the end, from the model's whole text. Ends the stream without calling the sink.
   */
  finish(text: string): OutgoingResult {
    this.#hasEnded = true;
    const { text: visible, isSilent } = cleaned(text, this.#removeArtefacts, this.#signal);
    if (isSilent && this.#context.event?.thread.isDirectMessage !== true) return { kind: "silent" };
    if (isSilent || visible.trim() === "") return { kind: "text", text: "" };
    const said = this.#transform(visible);
    return { kind: "text", text: said.trim() === "" ? said : joinParagraphs(said, this.#footer()) };
  }

  /**
   * Returns the text that people see of a reply that was cut short. It ends where it was safe to show while it
   * streamed, without half a signal or half a tag, and has no footer. Ends the stream without calling the sink.
   */
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

  /** Returns the changes since the last call. */
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

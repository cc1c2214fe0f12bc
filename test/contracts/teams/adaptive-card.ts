/** Adaptive Cards as Teams shows them: https://adaptivecards.io/explorer/, versions 1.0 to 1.5. */
import { below, plain, showMarkdown, type ShownText } from "../shown-text.ts";

/** The elements that bots use here. All fields are optional, because a bot may send anything. */
export interface CardElement {
  readonly type?: string;
  readonly text?: string;
  readonly body?: readonly CardElement[];
  readonly items?: readonly CardElement[];
  readonly columns?: readonly CardElement[];
  readonly rows?: readonly CardElement[];
  readonly cells?: readonly CardElement[];
  readonly facts?: readonly { readonly title?: string; readonly value?: string }[];
  readonly actions?: readonly CardAction[];
}

export interface CardAction {
  readonly type?: string;
  readonly title?: string;
  readonly isEnabled?: boolean;
  readonly verb?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export function showCard(card: CardElement): ShownText {
  return below(elementsOf(card).flatMap(showElement));
}

/** Actions that tell the bot something. The others open a page. */
export function buttonsOf(card: CardElement): readonly CardAction[] {
  return elementsOf(card)
    .flatMap(({ actions }) => actions ?? [])
    .filter(({ isEnabled, type }) => isEnabled !== false && /^Action\.(?:Submit|Execute)$/.test(type ?? ""));
}

function elementsOf(element: CardElement): readonly CardElement[] {
  const { body = [], cells = [], columns = [], items = [], rows = [] } = element;
  return [element, ...[...body, ...items, ...columns, ...rows, ...cells].flatMap(elementsOf)];
}

/** "Format cards in Teams": text blocks and facts render bold, italic, lists and links alone. */
function showElement({ facts = [], text }: CardElement): readonly ShownText[] {
  const shownAsSource = [
    "heading",
    "table",
    "inlineCode",
    "code",
    "blockquote",
    "delete",
    "thematicBreak",
    "image",
  ] as const;
  return [
    ...(text === undefined ? [] : [showMarkdown(text, { shownAsSource })]),
    ...facts.flatMap(({ title = "", value = "" }) => [plain(title), showMarkdown(value, { shownAsSource })]),
  ];
}

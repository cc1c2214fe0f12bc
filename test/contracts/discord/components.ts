import { below, showMarkdown, type ShownText } from "../shown-text.ts";

/** Components of messages, of both versions, with the fields that people see. */
export interface Component {
  readonly type: number;
  readonly components?: readonly Component[];
  readonly accessory?: Component;
  readonly content?: string;
  readonly label?: string;
  readonly custom_id?: string;
  readonly url?: string;
  readonly style?: number;
}

export interface Embed {
  readonly title?: string;
  readonly description?: string;
  readonly fields?: readonly { readonly name: string; readonly value: string }[];
  readonly footer?: { readonly text: string };
}

const ACTION_ROW = 1;
const BUTTON = 2;
const TEXT = 10;
const LINK_STYLE = 5;
/** Flag of a message whose content is components alone. */
export const COMPONENTS_V2 = 1 << 15;

export function allOf(components: readonly Component[]): readonly Component[] {
  return components.flatMap((component) => [
    component,
    ...allOf(component.components ?? []),
    ...(component.accessory === undefined ? [] : allOf([component.accessory])),
  ]);
}

/** Buttons that send an interaction. */
export function buttonsOf(components: readonly Component[]): readonly Component[] {
  return allOf(components).filter(({ style, type }) => type === BUTTON && style !== LINK_STYLE);
}

/** Tells why Discord refuses the components, if it does. */
export function problemOfComponents(components: readonly Component[], isV2: boolean): string | undefined {
  const all = allOf(components);
  if (isV2 ? all.length > 40 : components.length > 5) return "Too many components.";
  if (!isV2 && components.some(({ type }) => type !== ACTION_ROW)) return "Only action rows are allowed.";
  const rows = all.filter(({ type }) => type === ACTION_ROW);
  if (rows.some((row) => (row.components?.length ?? 0) < 1 || (row.components?.length ?? 0) > 5)) {
    return "An action row has 1 to 5 buttons.";
  }
  const texts = all.filter(({ type }) => type === TEXT).map(({ content }) => content ?? "");
  if (texts.includes("")) return "A text is empty.";
  if (texts.join("").length > 4000) return "The texts are too long.";
  const buttons = all.filter(({ type }) => type === BUTTON);
  if (buttons.some(({ label }) => (label ?? "").length > 80)) return "A label is too long.";
  const ids = buttonsOf(components).map(({ custom_id: id }) => id ?? "");
  if (ids.some((id) => id.length < 1 || id.length > 100)) return "A custom_id has 1 to 100 characters.";
  return new Set(ids).size === ids.length ? undefined : "Two components have the same custom_id.";
}

/** Discord renders Markdown, except tables. */
export const showContent = (text: string): ShownText => showMarkdown(text, { shownAsSource: ["table"] });

export function showComponents(components: readonly Component[]): ShownText {
  const texts = allOf(components).filter(({ type }) => type === TEXT);
  return below(texts.map(({ content }) => showContent(content ?? "")));
}

export function showEmbed({ description, fields, footer, title }: Embed): ShownText {
  return below([
    showContent(title ?? ""),
    showContent(description ?? ""),
    ...(fields ?? []).flatMap(({ name, value }) => [showContent(name), showContent(value)]),
    showContent(footer?.text ?? ""),
  ]);
}

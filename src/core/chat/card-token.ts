/** The parts of a button's token. */
export interface CardToken {
  /** Names the card. The gate of its chat knows the conversation that posted it. */
  readonly key: string;
  /** Names the button. Only the conversation knows its payload. */
  readonly button: string;
}

/** Some adapters wrap the token in JSON, within the same 64 bytes. */
const KEY_LENGTH = 22;
const BUTTON_LENGTH = 10;
const TOKEN = /^c1\.([\w-]{1,22})\.([\w-]{1,10})$/;

/** Makes the key of a card from an unguessable id. */
export function cardKey(id: string): string {
  return shorten(id, KEY_LENGTH);
}

/** Makes the key of a button from an unguessable id. */
export function buttonKey(id: string): string {
  return shorten(id, BUTTON_LENGTH);
}

/** Writes a token: ASCII only, at most 36 bytes. */
export function cardToken({ key, button }: CardToken): string {
  return `c1.${key}.${button}`;
}

/** Reads the data of a press. Undefined if it is not the token of a card. */
export function parseCardToken(data: string): CardToken | undefined {
  const [, key, button] = TOKEN.exec(data) ?? [];
  return key === undefined || button === undefined ? undefined : { key, button };
}

function shorten(id: string, length: number): string {
  return id.replaceAll("-", "").slice(0, length);
}

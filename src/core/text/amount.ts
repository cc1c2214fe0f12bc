/** An amount of money. */
export interface Amount {
  /** In whole units of the currency: 12.5 is 12 € 50. Never negative. At most four digits after the point count. */
  readonly value: number;
  /** Three capital letters: `EUR`. */
  readonly currency: string;
}

const UNITS = 10_000;
const LARGEST = Number.MAX_SAFE_INTEGER / UNITS;

export function isAmount(value: unknown): value is Amount {
  if (typeof value !== "object" || value === null) return false;
  const { currency, value: number } = value as Partial<Amount>;
  const isNumber = typeof number === "number" && number >= 0 && number <= LARGEST;
  return isNumber && typeof currency === "string" && /^[A-Z]{3}$/.test(currency);
}

/** Returns an amount as a whole number that can be added up without errors: ten thousandths of its currency. */
export function unitsOf({ value }: Amount): number {
  return Math.round(value * UNITS);
}

/** Writes an amount as most people read it: `100 €`, `9.50 CHF`. */
export function amountWords({ currency, value }: Amount): string {
  const parts = new Intl.NumberFormat("en", { style: "currency", currency }).formatToParts(1);
  const symbol = parts.find(({ type }) => type === "currency")?.value ?? currency;
  const digits = Number.isInteger(value) ? 0 : 2;
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: 4 })} ${symbol}`;
}

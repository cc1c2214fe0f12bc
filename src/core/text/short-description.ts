const LONGEST = 40;
/** A description that goes on, or that gives examples, is written for the model. */
const GOES_ON = /[,;:.!?()\n]/;

/** Returns a schema's description if it is a name for people. Undefined if it is longer. */
export function shortDescription(description: string): string | undefined {
  const text = description.trim();
  return text !== "" && text.length <= LONGEST && !GOES_ON.test(text) ? text : undefined;
}

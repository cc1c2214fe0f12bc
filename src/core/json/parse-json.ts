/** Returns the value of a JSON text from outside, or `otherwise` if it is no JSON: the page of a server in between. */
export function parseJson(text: string, otherwise?: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return otherwise;
  }
}

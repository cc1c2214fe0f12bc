/** Platforms whose webhooks carry a secret or a token, and no signature of their text. */
const UNSIGNED_TEXTS = new Set(["telegram", "teams", "gchat"]);
/** Headers that prove nothing. */
const PLAIN = new Set(["content-type", "content-length", "user-agent"]);

/** Returns requests like this one: without its proof, with a wrong one, and with another text below the right one. */
export async function forgeriesOf(request: Request, platform: string): Promise<readonly Request[]> {
  const body = await request.text();
  const proofs = [...request.headers].filter(([name]) => !PLAIN.has(name));
  const plain = [...request.headers].filter(([name]) => PLAIN.has(name));
  const send = (headers: [string, string][], text = body): Request =>
    new Request(request.url, { method: "POST", headers, body: text });
  const wrong = proofs.map(([name, value]): [string, string] => [name, changed(value)]);
  return [
    send(plain),
    send([...plain, ...wrong]),
    ...(UNSIGNED_TEXTS.has(platform) ? [] : [send([...plain, ...proofs], body.replace("please", "now"))]),
  ];
}

/** Changes a sign near the end: the last one of a token may hold bits that nobody reads. */
function changed(value: string): string {
  const at = Math.max(0, value.length - 10);
  return `${value.slice(0, at)}${value[at] === "0" ? "1" : "0"}${value.slice(at + 1)}`;
}

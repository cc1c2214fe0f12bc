/** Code that attacks the sandbox. Each is the body of an async function. */

/** Code that would hold the thread for seconds or forever. */
export const ENDLESS: readonly (readonly [name: string, code: string])[] = [
  ["a loop", "for (;;) {}"],
  ["a loop that catches everything", "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }"],
  ["a loop of resolved promises", "const again = () => Promise.resolve().then(again); await again()"],
  ["async functions without an end", "const f = async () => { await 0; return f(); }; await f()"],
  ["a generator", "for (const one of (function* () { for (;;) yield 1; })()) {}"],
  ["a hopeless regular expression", "/^(a+)+$/.test('a'.repeat(40) + 'b')"],
  ["a search through a sparse array", "const a = []; a.length = 4e9; a.indexOf(1)"],
  ["a search through a false array", "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
  ["a sort of a false array", "Array.prototype.sort.call({ length: 2 ** 32 })"],
  ["a search in a text", "('a'.repeat(2e6)).indexOf('a'.repeat(1e6) + 'b')"],
  ["copies of a large text", "const s = 'a'.repeat(4e6); for (;;) s.slice(1)"],
  ["large arrays", "for (;;) new Uint8Array(4e6).fill(1)"],
  ["a division of large numbers", "(2n ** 1000000n) / (3n ** 100000n)"],
  ["a number of many digits", "BigInt('1'.repeat(200000))"],
  ["a sort of bytes", "for (;;) new Uint8Array(4e6).map((_, i) => i).sort()"],
  [
    "JSON again and again",
    "const a = Array.from({ length: 1e4 }, (_, i) => ({ i })); for (;;) JSON.parse(JSON.stringify(a))",
  ],
  ["a text in normal form", "const s = 'e\\u0301'.repeat(1e5); for (;;) s.normalize('NFC')"],
  ["numbers", "let n = 0; for (;;) n += Math.sin(n) * Math.pow(n, 0.3)"],
  ["a getter on the returned value", "return { get value() { for (;;) {} } }"],
  ["toJSON of the returned value", "return { toJSON() { for (;;) {} } }"],
  ["a getter on the thrown error", "throw { get message() { for (;;) {} } }"],
  ["a value of many levels", "let o = {}; for (let i = 0; i < 5e4; i++) o = { o }; return o"],
  ["a large array", "return new Array(2 ** 26).fill(0).length"],
  ["an output of 100 MB", "return Array.from({ length: 1000 }, () => 'x'.repeat(1e5))"],
  ["a proxy as the result", "return new Proxy({}, { ownKeys() { for (;;) {} } })"],
];

/** Code that takes more than its memory. */
export const GREEDY: readonly (readonly [name: string, code: string])[] = [
  ["one allocation", "return new Uint8Array(1e9).length"],
  ["a long text", "return 'x'.repeat(2 ** 29).length"],
  ["pieces that it keeps", "globalThis.all = []; for (;;) all.push(new Uint8Array(1e5))"],
  ["a text that doubles", "let text = 'x'; for (;;) text += text"],
];

/** Code that nests deeper than its stack. */
export const DEEP: readonly (readonly [name: string, code: string])[] = [
  ["recursion", "const f = () => f(); f()"],
  ["recursion of async functions", "const f = async () => f(); await f()"],
  ["getters that call each other", "const o = { get a() { return this.a; } }; return o.a"],
  ["data that only the engine reads", "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))"],
];

/** Code whose output is too long. */
export const WORDY: readonly (readonly [name: string, code: string])[] = [
  ["returned", "return 'x'.repeat(6e5)"],
  ["logged", "for (let i = 0; i < 1000; i++) console.log('x'.repeat(1e5))"],
  ["thrown", "throw 'x'.repeat(6e5)"],
  ["given to a tool", "await notes.take('x'.repeat(6e5))"],
];

/** Code that makes more calls of a tool than it may. */
export const FLOOD =
  "const all = []; for (let i = 0; i < 1e4; i++) all.push(notes.go()); await Promise.all(all)";

/** Code with many promises that never settle. */
export const PROMISES =
  "const all = []; for (let i = 0; i < 1e4; i++) all.push(new Promise(() => {})); return all.length";

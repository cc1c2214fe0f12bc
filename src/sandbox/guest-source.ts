/**
 * The code of the sandbox's own side. It is a function of the host's functions, and returns those that the host calls.
 * Code of strangers runs beside it and may break it; that ends only its own run, because the host takes nothing but
 * strings from here.
 */
export const GUEST_SOURCE = `(function (host, names) {
  "use strict";
  const { parse, stringify } = JSON;
  const { InternalError } = globalThis;
  const TAG = "__codemode_binary_v1__";
  const bufferOf = (value) =>
    ArrayBuffer.isView(value)
      ? value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength)
      : value;
  const packed = (key, value) => {
    if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) return value;
    const kind = value instanceof Uint8Array ? "Uint8Array" : value instanceof ArrayBuffer ? "ArrayBuffer" : "ArrayBufferView";
    return { [TAG]: kind, data: host.toBase64(bufferOf(value)) };
  };
  const unpacked = (key, value) => {
    if (typeof value !== "object" || value === null || !(TAG in value)) return value;
    const buffer = host.fromBase64(value.data);
    return value[TAG] === "ArrayBuffer" ? buffer : new Uint8Array(buffer);
  };
  const waiting = new Map();
  const call = (name, method, args) =>
    new Promise((resolve, reject) => {
      const id = host.call(name, method, stringify(args, packed));
      waiting.set(id, { resolve, reject });
    });
  for (const name of names) {
    globalThis[name] = new Proxy({}, {
      get: (own, key) => {
        if (Object.hasOwn(own, key)) return own[key];
        return typeof key !== "string" || key === "then" ? undefined : (...args) => call(name, key, args);
      },
    });
  }
  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return words(value);
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  const words = (error) => {
    try {
      if (!(error instanceof Error)) return shown(error);
      const { name, message } = error;
      return name === "Error" ? String(message) : String(name) + ": " + String(message);
    } catch {
      return "The code failed with an error that cannot be shown.";
    }
  };
  const limitOf = (error) => {
    try {
      if (error === null) return "nothing";
      const { message } = error;
      if (!(error instanceof InternalError)) return "";
      return message.includes("stack") ? "stackBytes" : message.includes("memory") || message.includes("too long") ? "memoryBytes" : "";
    } catch {
      return "";
    }
  };
  const fail = (error) => host.failed(words(error), limitOf(error));
  const log = (label) => (...values) => host.log(label + values.map(shown).join(" "));
  globalThis.console = {
    log: log(""), info: log(""), debug: log(""), warn: log("[warn] "), error: log("[error] "),
  };
  const evaluate = globalThis.eval;
  const compiled = (source) => {
    try {
      return evaluate(source);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  };
  const statements = (source) => {
    const lines = source.split("\\n");
    for (let at = lines.length - 1; at > 0 && at >= lines.length - 20; at -= 1) {
      const last = lines.slice(at).join("\\n").replace(/;\\s*$/, "");
      const body = lines.slice(0, at).join("\\n") + "\\nreturn (" + last + "\\n)";
      const found = last.trim() === "" ? undefined : compiled("(async () => {" + body + "\\n})");
      if (found !== undefined) return found;
    }
    return evaluate("(async () => {" + source + "\\n})");
  };
  return {
    run: (source) => {
      const main = async () => {
        const expression = source.replace(/;\\s*$/, "");
        const whole = compiled("(async () => (" + expression + "\\n))");
        const value = await (whole ?? statements(source))();
        return typeof value === "function" && whole !== undefined ? value() : value;
      };
      main().then(
        (value) => host.done(stringify(value, packed)),
        fail,
      ).catch(fail);
    },
    settle: (id, isDone, text) => {
      const waiter = waiting.get(id);
      waiting.delete(id);
      if (waiter === undefined) return;
      if (isDone) waiter.resolve(text === undefined ? undefined : parse(text, unpacked));
      else waiter.reject(new Error(text));
    },
  };
})`;

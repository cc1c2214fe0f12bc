/**
 * Stands in for curl in the shell examples of the documentation: a machine without curl runs them, too. It refuses
 * options that it does not know. Each call appends a line to the file that CURL_RECORD names.
 */
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: "string", short: "X" },
    header: { type: "string", short: "H", multiple: true, default: [] },
    data: { type: "string", short: "d" },
    silent: { type: "boolean", short: "s" },
  },
});
const [url, ...others] = positionals;
if (url === undefined || others.length > 0) throw new Error("curl: exactly one address is expected");

const headers = new Headers(
  values.header.map((line) => /** @type {[string, string]} */ (line.split(/:\s*(.*)/s).slice(0, 2))),
);
// The real one says this of every body, whatever it is.
if (values.data !== undefined && !headers.has("content-type")) {
  headers.set("content-type", "application/x-www-form-urlencoded");
}
const method = values.request ?? (values.data === undefined ? "GET" : "POST");
const response = await fetch(url, {
  method,
  headers,
  ...(values.data !== undefined && { body: values.data }),
});
const body = await response.text();
process.stdout.write(body);
const call = { method, path: new URL(url).pathname, status: response.status, body };
appendFileSync(process.env.CURL_RECORD ?? "", `${JSON.stringify(call)}\n`);

import { expect, it } from "vitest";
import { publicFetch } from "../../../src/mcp-client/public-fetch.ts";

const OWN = "http://127.0.0.1:8000";

/** A network in which each address redirects to another one, or answers. */
function network(redirects: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  const base: typeof fetch = (input) => {
    const { url } = new Request(input);
    asked.push(url);
    const location = redirects[url];
    return Promise.resolve(
      location === undefined
        ? new Response("ok")
        : new Response(null, { status: 302, headers: { location } }),
    );
  };
  return { asked, fetch: publicFetch(base, OWN) };
}

it("reaches the author's own origin, and public addresses", async () => {
  const { asked, fetch } = network();
  await fetch(`${OWN}/mcp`);
  await fetch("https://login.example/token", { method: "POST", body: "x" });
  expect(asked).toHaveLength(2);
});

it.each([
  "http://127.0.0.1:9000/",
  "http://login.example/",
  "https://10.0.0.1/",
  "https://169.254.169.254/latest/meta-data",
  "https://[::1]/",
  "https://metadata.internal/",
  "https://user:password@login.example/",
  "file:///etc/passwd",
])("refuses %s, also behind a redirect", async (address) => {
  const { asked, fetch } = network({
    "https://login.example/": "/next",
    "https://login.example/next": address,
  });
  await expect(fetch(address)).rejects.toMatchObject({ code: "mcp-address" });
  expect(asked).toEqual([]);
  await expect(fetch("https://login.example/")).rejects.toMatchObject({ code: "mcp-address" });
  expect(asked).toEqual(["https://login.example/", "https://login.example/next"]);
});

it("follows no circle of redirects, and none with a body", async () => {
  const { asked, fetch } = network({ "https://login.example/": "https://login.example/" });
  await expect(fetch("https://login.example/", { method: "POST", body: "code" })).rejects.toThrow(
    "redirects",
  );
  expect(asked).toHaveLength(1);
  await expect(fetch("https://login.example/")).rejects.toThrow("redirects");
  expect(asked.length).toBeLessThan(6);
});

it("gives no header to another origin", async () => {
  const seen: (string | null)[] = [];
  const base: typeof fetch = async (input, init) => {
    const { headers, url } = new Request(input, init);
    seen.push(headers.get("authorization"));
    return url.startsWith(OWN)
      ? new Response(null, { status: 302, headers: { location: "https://login.example/" } })
      : new Response("ok");
  };
  await publicFetch(base, OWN)(`${OWN}/mcp`, { headers: { authorization: "Bearer of-the-author" } });
  expect(seen).toEqual(["Bearer of-the-author", null]);
});

it("does not read an answer that is too large", async () => {
  const large: typeof fetch = () => Promise.resolve(new Response("x".repeat(300_000)));
  await expect(publicFetch(large, OWN)("https://login.example/")).rejects.toThrow("too large");
});

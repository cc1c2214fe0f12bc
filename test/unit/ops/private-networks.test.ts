import { BlockList } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { privateNetworks } from "../../../ops/serve/private-networks.ts";
import { isPrivateHost } from "../../../src/core/web/public-url.ts";

const denied = new BlockList();
for (const block of privateNetworks()) {
  const [first = "", length = ""] = block.split("/");
  denied.addSubnet(first, Number(length), first.includes(":") ? "ipv6" : "ipv4");
}

const byte = fc.integer({ min: 0, max: 255 });
/** Many addresses lie at the borders of private networks. */
const address = fc.tuple(
  fc.oneof(byte, fc.constantFrom(0, 9, 10, 100, 127, 169, 172, 192, 198, 223, 224)),
  fc.oneof(byte, fc.constantFrom(0, 15, 16, 17, 18, 19, 20, 31, 32, 63, 64, 127, 128, 168, 254)),
  fc.oneof(byte, fc.constantFrom(0, 1)),
  byte,
);

it("denies private addresses, also in those of NAT64 and 6to4, and no public ones", () => {
  fc.assert(
    fc.property(address, ([a, b, c, d]) => {
      // Names with 192.0.x.x in them are refused, but a part of that is public.
      const isPrivate = isPrivateHost([a, b, c, d].join(".")) && (a !== 192 || b !== 0 || c === 0);
      const words = [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(":");
      expect(denied.check([a, b, c, d].join("."))).toBe(isPrivate);
      expect(denied.check(`64:ff9b::${words}`, "ipv6")).toBe(isPrivate);
      expect(denied.check(`2002:${words}::1`, "ipv6")).toBe(isPrivate);
    }),
  );
});

it.each(["::127.0.0.1", "::1", "::ffff:0:127.0.0.1", "64:ff9b:1::a", "2001:0:1::1", "fec0::1"])(
  "denies %s",
  (hiding) => expect(denied.check(hiding, "ipv6")).toBe(true),
);

it.each(["2606:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "64:ff9b::8.8.8.8"])(
  "does not deny %s",
  (open) => expect(denied.check(open, "ipv6")).toBe(false),
);

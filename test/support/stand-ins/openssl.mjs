/**
 * Stands in for openssl in the shell examples of the documentation. It knows `dgst -sha256 -hmac KEY`, which reads the
 * standard input, and `rand -hex BYTES`.
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const [command, option, ...rest] = process.argv.slice(2);
if (command === "dgst" && option === "-sha256" && rest.length === 2 && rest[0] === "-hmac") {
  const digest = createHmac("sha256", rest[1] ?? "")
    .update(readFileSync(0))
    .digest("hex");
  console.log(`SHA2-256(stdin)= ${digest}`);
} else if (command === "rand" && option === "-hex" && rest.length === 1) {
  console.log(randomBytes(Number(rest[0])).toString("hex"));
} else {
  throw new Error(`openssl: the stand-in does not know: ${process.argv.slice(2).join(" ")}`);
}

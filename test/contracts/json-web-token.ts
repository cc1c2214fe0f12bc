import { createSign, createVerify, generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";

/** A key that signs tokens, in the forms in which platforms publish it. */
export class TokenKey {
  readonly keyId: string;
  #pair: KeyPairKeyObjectResult | undefined;

  constructor(keyId: string) {
    this.keyId = keyId;
  }

  get privatePem(): string {
    return this.#made().privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  }

  get jwk(): Record<string, unknown> {
    return { ...this.#made().publicKey.export({ format: "jwk" }), kid: this.keyId, alg: "RS256", use: "sig" };
  }

  sign(claims: object): string {
    const parts = [{ alg: "RS256", kid: this.keyId, typ: "JWT" }, claims];
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${signed}.${this.#signature(Buffer.from(signed)).toString("base64url")}`;
  }

  /** Returns the claims of a token that this key has signed. */
  verify(token: string): Readonly<Record<string, unknown>> | undefined {
    const [header = "", claims = "", signature = ""] = token.split(".");
    const verifier = createVerify("RSA-SHA256").update(`${header}.${claims}`);
    if (!verifier.verify(this.#made().publicKey, Buffer.from(signature, "base64url"))) return undefined;
    return JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
  }

  /** A certificate that the key has signed itself (RFC 5280), as PEM. */
  certificate(name: string): string {
    const names = sequence(tlv(0x31, sequence(OF_COMMON_NAME, tlv(0x0c, Buffer.from(name)))));
    const times = sequence(tlv(0x17, Buffer.from("200101000000Z")), tlv(0x17, Buffer.from("491231235959Z")));
    const body = sequence(
      tlv(0xa0, integer(2)),
      integer(1),
      SHA256_WITH_RSA,
      names,
      times,
      names,
      this.#made().publicKey.export({ type: "spki", format: "der" }),
    );
    const signature = tlv(0x03, Buffer.concat([Buffer.of(0), this.#signature(body)]));
    const base64 = sequence(body, SHA256_WITH_RSA, signature).toString("base64");
    const lines = base64.match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  }

  /** A key is expensive, and not every test needs it. */
  #made(): KeyPairKeyObjectResult {
    this.#pair ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
    return this.#pair;
  }

  #signature(bytes: Uint8Array): Buffer {
    return createSign("RSA-SHA256").update(bytes).sign(this.#made().privateKey);
  }
}

const SHA256_WITH_RSA = Buffer.from("300d06092a864886f70d01010b0500", "hex");
const OF_COMMON_NAME = Buffer.from("0603550403", "hex");

function tlv(tag: number, value: Uint8Array): Buffer {
  const { length } = value;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}

function sequence(...parts: Uint8Array[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return tlv(0x02, Buffer.of(value));
}

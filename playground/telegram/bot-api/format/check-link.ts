export type CheckedLink = { readonly url: string } | { readonly problem: string };

/**
 * Checks an address as Telegram does. The schemes are `http`, `https`, `tg`, `ton` and `tonsite`; without a scheme it
 * is `http`. The host needs a dot. The path is not changed. A problem is returned with Telegram's wording.
 */
export function checkLink(target: string): CheckedLink {
  const special = /^(tg|ton|tonsite):(?:\/\/)?/i.exec(target);
  if (special !== null)
    return checkSpecial((special[1] ?? "").toLowerCase(), target.slice(special[0].length));
  return checkHttp(target);
}

function checkHttp(target: string): CheckedLink {
  const scheme = /^([^:/?#@[\]]*):\/\//.exec(target);
  const protocol = scheme === null ? "http" : (scheme[1] ?? "").toLowerCase();
  if (protocol !== "http" && protocol !== "https") return { problem: "Unsupported URL protocol" };
  const rest = target.slice(scheme?.[0].length ?? 0);
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  const port = /(?<=[^@\]]):([^:@\]]*)$/.exec(authority);
  const portNumber = port === null ? 0 : Number(/^\d+$/.test(port[1] ?? "") ? port[1] : Number.NaN);
  if (port !== null && !(portNumber > 0 && portNumber <= 65_535)) {
    return { problem: "Wrong port number specified in the URL" };
  }
  const withoutPort = port === null ? authority : authority.slice(0, port.index);
  const at = withoutPort.lastIndexOf("@");
  const host = withoutPort.slice(at + 1).toLowerCase();
  if (host === "") return { problem: "URL host is empty" };
  if (host === ".") return { problem: "Host is invalid" };
  const isIpv6 = /^\[[0-9a-f:.]+\]$/.test(host);
  if (!isIpv6 && hasForbiddenCharacter(host, "")) return { problem: "Disallowed character in URL host" };
  if (hasForbiddenCharacter(withoutPort.slice(0, Math.max(0, at)), ":")) {
    return { problem: "Disallowed character in URL userinfo" };
  }
  if (!isIpv6 && !host.includes(".")) return { problem: "Wrong HTTP URL" };
  const userinfo = at === -1 ? "" : withoutPort.slice(0, at + 1);
  const path = encodeSpaces(rest.slice(authority.length));
  return { url: `${protocol}://${userinfo}${host}${port === null ? "" : `:${portNumber}`}${path}` };
}

function checkSpecial(scheme: string, rest: string): CheckedLink {
  const checked = checkHttp(rest.includes(".") ? rest : rest.replace(/^[^/?#]*/, "$&.x"));
  if ("problem" in checked) return checked;
  const host = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  if (/[@:[\]]/.test(host)) return { problem: scheme === "tg" ? "Wrong tg URL" : "Wrong ton URL" };
  const allowed = scheme === "tonsite" ? /^[a-z0-9_.-]+$/i : /^[a-z0-9_-]+$/i;
  if (!allowed.test(host)) return { problem: "Unallowed characters in URL host" };
  const path = encodeSpaces(rest.slice(host.length));
  return { url: `${scheme}://${host.toLowerCase()}${path.startsWith("/?") ? path.slice(1) : path}` };
}

function hasForbiddenCharacter(part: string, alsoAllowed: string): boolean {
  for (const character of part.replace(/%[0-9a-f]{2}/gi, "")) {
    const isPlain = /[a-z0-9.\-_!$,~*'();&+=]/i.test(character) || character === alsoAllowed;
    if (!isPlain && (character.codePointAt(0) ?? 0) < 128) return true;
  }
  return false;
}

function encodeSpaces(path: string): string {
  const trimmed = path.trimEnd();
  const absolute = trimmed.startsWith("/") ? trimmed : `/${trimmed}`;
  return absolute.replaceAll(/\s/g, (space) => encodeURIComponent(space));
}

/** Path of the page that opens a person's mail program. Platforms refuse buttons with `mailto:` links. */
export const MAIL_PAGE_PATH = "/messengers/mail";

/** Longest address of a button that platforms accept. */
const LONGEST_URL = 2000;

export interface MailTo {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly body: string;
}

/**
 * Returns the address of the page that opens the mail program with a draft. The draft is behind the `#`, which browsers
 * never send, so no server sees it. A body that is too long for an address is left out.
 */
export function mailPageUrl(publicUrl: string, { bcc, body, cc, subject, to }: MailTo): string | undefined {
  const page = URL.parse(MAIL_PAGE_PATH, publicUrl);
  if (page === null) return undefined;
  const fields = { cc: cc.join(","), bcc: bcc.join(","), subject };
  const withBody = mailPage(page, to, { ...fields, body });
  if (withBody.length <= LONGEST_URL) return withBody;
  const withoutBody = mailPage(page, to, fields);
  return withoutBody.length <= LONGEST_URL ? withoutBody : undefined;
}

function mailPage(page: URL, to: readonly string[], fields: Readonly<Record<string, string>>): string {
  const query = Object.entries(fields)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value.replaceAll(/\r?\n/g, "\r\n"))}`)
    .join("&");
  const addresses = to.map((address) => encodeURIComponent(address.trim())).join(",");
  return `${page.origin}${MAIL_PAGE_PATH}#${addresses}${query === "" ? "" : `?${query}`}`;
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>E-mail draft</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:26rem;padding:0 1rem;text-align:center}</style>
<p>Your mail program opens with the draft.</p>
<p><a id="open" href="">Open it again</a></p>
<script>
const draft = "mailto:" + location.hash.slice(1);
document.getElementById("open").href = draft;
location.href = draft;
</script>
`;

/** Answers a request for the page. It reads the draft behind the `#` of its own address and can open nothing else. */
export function answerMailPage(): Response {
  return new Response(PAGE, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      "referrer-policy": "no-referrer",
      "cache-control": "public, max-age=3600",
    },
  });
}

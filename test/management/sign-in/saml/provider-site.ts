/**
 * A SAML provider as another site than the platform: its page has the answer in a form, and a button.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerTo, encoded } from "./identity-provider.ts";

/** A running site. */
export interface ProviderSite {
  readonly ssoURL: string;
  /** Cookies that came with forms of the platform's. */
  readonly cookies: (string | undefined)[];
  close(): void;
}

/** Starts the site at `localhost`, which for a browser is another site than 127.0.0.1. */
export async function startProviderSite(now: () => number): Promise<ProviderSite> {
  const cookies: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      cookies.push(request.headers.cookie);
      const sent = new URLSearchParams(Buffer.concat(chunks).toString());
      const xml = Buffer.from(sent.get("SAMLRequest") ?? "", "base64").toString();
      const part = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? "";
      const asked = { id: part("ID"), redirectUri: part("AssertionConsumerServiceURL"), nowMs: now() };
      const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;
      const fields = field("SAMLResponse", encoded(answerTo(asked, { by: "AR" }))) + field("RelayState", sent.get("RelayState") ?? "");
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<title>Provider</title><form method="post" action="${asked.redirectUri}">${fields}<button>Go back</button></form>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ssoURL: `http://localhost:${(server.address() as AddressInfo).port}/sso`,
    cookies,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

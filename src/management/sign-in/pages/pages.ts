/**
 * The pages of sign-in: plain HTML that works without scripts. Pages load nothing from other sites except images, and cannot be shown in
 * a frame.
 *
 * @module
 */
import type { SignedIn } from "../ports.ts";
import type { Visit } from "../visit.ts";
import { html, type Html } from "./html.ts";
import { legalHtml } from "./legal.ts";
import { imageOf, SCRIPT, styleSheet, type UiSettings } from "./look.ts";

/** A way to sign in, as shown to users and programs. */
export interface Way {
  /** Part of the address of the login. */
  readonly id: string;
  readonly displayName: string;
  /** Name of the kind's section in the settings. */
  readonly type: string;
  /** Whether users are redirected to the provider, or enter one of its tokens. */
  readonly flow: "redirect" | "token";
}

/** The content of the page with all ways to sign in. */
export interface Ways {
  readonly password: boolean;
  readonly ways: readonly Way[];
  /** Parameters for a waiting program; empty when none waits. */
  readonly program: Readonly<Record<string, string>>;
}

/** The error that a page shows. */
interface Failure {
  readonly code: number;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** Sends pages as responses. */
export interface Pages {
  /** Shows all ways to sign in. */
  login(visit: Visit, ways: Ways): void;
  /** Shows the key, which is shown only once. */
  key(visit: Visit, signedIn: SignedIn): void;
  /** Sends the browser to a provider with a form. */
  leave(visit: Visit, form: { readonly action: URL; readonly fields: Readonly<Record<string, string>> }): void;
  /** Asks whether a program on the user's machine may have a key. */
  confirm(visit: Visit, login: { readonly secret: string; readonly program: string; readonly user: string }): void;
  /** Shows why the sign-in failed. */
  failure(visit: Visit, failure: Failure): void;
  /** Sends the style sheet or the script, by the last part of its address. Returns false for any other name. */
  asset(visit: Visit, name: string): boolean;
}

/** Options of the pages. */
export interface PagesOptions {
  readonly baseUrl: () => string;
  readonly ui: () => UiSettings;
}

/** Creates the pages in the style of the settings. */
export function createPages({ baseUrl, ui }: PagesOptions): Pages {
  const at = (path: string) => `${new URL(baseUrl()).pathname.replace(/\/$/, "")}${path}`;

  const show = ({ response }: Visit, { title, body, code = 200, formAction = "" }: PageParts) => {
    const { logoURL, faviconURL, legalTemplate = "", externalURLs } = ui();
    const [logo, icon] = [imageOf(logoURL, externalURLs), imageOf(faviconURL, externalURLs)];
    const images = [...new Set([logo, icon].flatMap((image) => image?.source ?? []))];
    const page = html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>${title}</title>
          <link rel="stylesheet" href="${at("/auth/page.css")}" />
          ${icon === undefined ? "" : html`<link rel="icon" href="${icon.src}" />`}
        </head>
        <body>
          <main>
            ${logo === undefined ? "" : html`<img class="logo" src="${logo.src}" alt="" />`}
            <div class="card">
              <h1>${title}</h1>
              ${body}
            </div>
            ${legalTemplate === "" ? "" : html`<footer>${legalHtml(legalTemplate)}</footer>`}
          </main>
          <script src="${at("/auth/page.js")}" defer></script>
        </body>
      </html> `;
    const policy = [
      ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
      `img-src ${images.length === 0 ? "'none'" : images.join(" ")}`,
      `form-action 'self'${formAction === "" ? "" : ` ${formAction}`}`,
    ].join("; ");
    response.setHeader("Content-Security-Policy", policy);
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("X-Frame-Options", "DENY");
    const bytes = Buffer.from(page.html);
    response.writeHead(code, { "Content-Type": "text/html; charset=utf-8", "Content-Length": bytes.length }).end(bytes);
  };

  return {
    login(visit, { password, ways, program }) {
      const query = new URLSearchParams(program).toString();
      const hidden = Object.entries(program).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
      const links = ways
        .filter(({ flow }) => flow === "redirect")
        .map(({ id, displayName }) => {
          const path = at(`/auth/${encodeURIComponent(id)}/login`);
          return html`<li><a class="button" href="${query === "" ? path : `${path}?${query}`}">Sign in with ${displayName}</a></li> `;
        });
      const tokens = ways.filter(({ flow }) => flow === "token").map((way) => tokenForm(way, at, hidden));
      const asked = program["redirect"];
      const body = html`${asked === undefined ? "" : html`<p>A program on this computer (${new URL(asked).origin}) is waiting for you to sign in. If you have not started one, close this page.</p>`}
      ${
        links.length === 0
          ? ""
          : html`<ul class="ways">
              ${links}
            </ul>`
      }
      ${password ? passwordForm(at, hidden) : ""} ${tokens}
      ${password || ways.length > 0 ? "" : html`<p>You cannot sign in here: no provider is set up.</p>`}`;
      show(visit, { title: "Sign in", body, ...(asked !== undefined && { formAction: new URL(asked).origin }) });
    },

    key(visit, { key, name, expiresAt }) {
      const end = expiresAt === undefined ? "It does not expire" : `It ends at ${new Date(expiresAt).toISOString().replace(".000Z", "Z")}`;
      const body = html`<p>This is your access key. It is shown only once. ${end}.</p>
        <p><code id="key">${key}</code></p>
        <button type="button" id="copy" class="second" hidden>Copy the key</button>
        <p id="copied" class="soft" role="status"></p>
        <form method="post" action="${at("/auth/kubeconfig")}">
          <input type="hidden" name="key" value="${key}" />
          <button type="submit">Download a kubeconfig</button>
        </form>
        <p class="soft">The key is named ${name}. Sign out, or delete the key, when you no longer need it.</p>`;
      show(visit, { title: "You are signed in", body });
    },

    leave(visit, { action, fields }) {
      const hidden = Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
      const body = html`<p>You sign in at ${action.host}.</p>
        <form method="post" action="${action.href}" id="leave">
          ${hidden}
          <button type="submit">Continue</button>
        </form>`;
      show(visit, { title: "Sign in", body, formAction: action.origin });
    },

    confirm(visit, { secret, program, user }) {
      const body = html`<p>
          A program on this computer, at ${program}, requests an access key that allows it to do everything that ${user} may do.
        </p>
        <p>If you have not just started such a program, select Refuse.</p>
        <form method="post" action="${at("/auth/confirm")}">
          <input type="hidden" name="confirm" value="${secret}" />
          <button type="submit" name="answer" value="allow">Allow</button>
          <button type="submit" name="answer" value="refuse" class="second">Refuse</button>
        </form>`;
      // Browsers apply the policy to the redirect that follows the form too.
      show(visit, { title: "Let a program sign in?", body, formAction: program });
    },

    failure(visit, { code, message, retryAfterSeconds }) {
      if (retryAfterSeconds !== undefined) visit.response.setHeader("Retry-After", String(retryAfterSeconds));
      const body = html`<p class="bad" role="alert">${message}</p>
        <p><a class="button" href="${at("/login")}">Start again</a></p>`;
      show(visit, { title: "You are not signed in", body, code });
    },

    asset({ response }, name) {
      const asset = name === "page.css" ? { type: "text/css", text: styleSheet(ui()) } : { type: "text/javascript", text: SCRIPT };
      if (name !== "page.css" && name !== "page.js") return false;
      const bytes = Buffer.from(asset.text);
      response.writeHead(200, { "Content-Type": `${asset.type}; charset=utf-8`, "Content-Length": bytes.length }).end(bytes);
      return true;
    },
  };
}

interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** Default 200. */
  readonly code?: number;
  /** The origin to which forms may be sent, in addition to the platform. */
  readonly formAction?: string;
}

type At = (path: string) => string;

function passwordForm(at: At, hidden: readonly Html[]): Html {
  return html`<h2>With a password</h2>
    <form method="post" action="${at("/auth/password/login")}">
      ${hidden}
      <label for="username">User name</label>
      <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required />
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required />
      <button type="submit">Sign in</button>
    </form>`;
}

function tokenForm({ id, displayName }: Way, at: At, hidden: readonly Html[]): Html {
  return html`<h2>With a token from ${displayName}</h2>
    <form method="post" action="${at(`/auth/${encodeURIComponent(id)}/login`)}">
      ${hidden}
      <label for="token-${id}">Token, as name:secret</label>
      <input id="token-${id}" name="token" type="password" autocomplete="off" required />
      <button type="submit">Sign in with ${displayName}</button>
    </form>`;
}

/**
 * The proxies of an environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, also in lower case, which takes precedence.
 *
 * @module
 */
import { BlockList, isIP } from "node:net";
import { EngineError } from "../../../base/errors.ts";
import { isLoopback } from "./loopback.ts";

/** A proxy. */
export interface ProxyServer {
  readonly url: URL;
  /** The value of `Proxy-Authorization`; undefined for a proxy that requires none. It is secret. */
  readonly authorization: string | undefined;
}

/** Returns the proxy for an address; undefined if the connection is direct. */
export type ProxyFor = (url: URL) => ProxyServer | undefined;

/** No proxies: every connection is direct. */
export const noProxies: ProxyFor = () => undefined;

/**
 * Reads the environment variables for proxies. `HTTPS_PROXY` is for HTTPS requests, and `HTTP_PROXY` is for all requests if the other is
 * not set. `NO_PROXY` contains names (including all names below them) and IP addresses, each with or without a port, networks without a
 * port, or `*`. This machine is always reached directly, because a loopback address means a different machine to the proxy.
 *
 * @throws CONFIG_VALUE for a value that is not a proxy. The value is not quoted: it may hold a password.
 * @example
 * const proxyFor = readProxies({ HTTPS_PROXY: "http://proxy:3128", NO_PROXY: ".internal,10.0.0.0/8" });
 * proxyFor(new URL("https://id.example"))?.url.host; // "proxy:3128"
 * proxyFor(new URL("https://id.internal")); // undefined
 */
export function readProxies(env: Readonly<Record<string, string | undefined>>): ProxyFor {
  const [plain, secure] = ["HTTP_PROXY", "HTTPS_PROXY"].map((name) => proxyOf(env, name));
  if (plain === undefined && secure === undefined) return noProxies;
  const isExcepted = exceptions(valueOf(env, "NO_PROXY") ?? "");
  return (url) => {
    if (isLoopback(url) || isExcepted(url)) return undefined;
    return url.protocol === "https:" ? (secure ?? plain) : plain;
  };
}

function valueOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name.toLowerCase()] ?? env[name];
}

function proxyOf(env: Readonly<Record<string, string | undefined>>, name: string): ProxyServer | undefined {
  const text = valueOf(env, name)?.trim() ?? "";
  if (text === "") return undefined;
  const whole = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  const authorization = url && authorizationOf(url);
  if (url === undefined || authorization === null || !["http:", "https:"].includes(url.protocol))
    throw new EngineError("CONFIG_VALUE", `${name} is not the address of an HTTP proxy`, {
      details: { hint: `Set ${name} to http://HOST:PORT or https://HOST:PORT, with %40 for @ in a password` },
    });
  return { url: new URL(url.origin), authorization };
}

/** Null when name and password cannot be decoded. */
function authorizationOf({ username, password }: URL): string | undefined | null {
  if (username === "" && password === "") return undefined;
  try {
    return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
  } catch {
    return null;
  }
}

/** Reports whether one entry of `NO_PROXY` matches a host and a port. */
type Exception = (host: string, port: string) => boolean;

function exceptions(text: string): (url: URL) => boolean {
  const all = text.split(/[\s,]+/).flatMap((entry) => (entry === "" ? [] : [exception(entry.toLowerCase())]));
  return (url) => {
    const host = canonical(url.hostname);
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    return all.some((one) => one(host, port));
  };
}

function exception(entry: string): Exception {
  if (entry === "*") return () => true;
  const network = networkOf(entry);
  if (network !== undefined) return (host) => network(host);
  // A colon in an address without brackets is not a port.
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [undefined, undefined, entry, undefined];
  const below = canonical((bracketed ?? name ?? "").replace(/^\*?\./, ""));
  const isBelow = (host: string) => isIP(below) === 0 && host.endsWith(`.${below}`);
  return (host, at) => (host === below || isBelow(host)) && (port === undefined || port === at);
}

/** Returns a name or an IP address in the form of URLs, without brackets. An IPv4 address that is mapped into IPv6 becomes IPv4. */
function canonical(text: string): string {
  const host = isIP(text) === 6 ? `[${text}]` : text;
  const written = /^(?:\[[^\]]*\]|[^/?#@\\:]+)$/.test(host) && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
  const bare = written.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const halves = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/
    .exec(bare)
    ?.slice(1)
    .map((half) => parseInt(half, 16));
  return halves === undefined ? bare : halves.map((half) => `${half >> 8}.${half & 255}`).join(".");
}

function networkOf(entry: string): ((host: string) => boolean) | undefined {
  const [address = "", length = ""] = entry.split("/");
  const family = familyOf(address);
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(length) || Number(length) > (family === "ipv4" ? 32 : 128)) return undefined;
  const network = new BlockList();
  network.addSubnet(address, Number(length), family);
  return (host) => isIP(host) !== 0 && familyOf(host) === family && network.check(host, family);
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

const LOOPBACK = ["127.0.0.1", "[::1]"];

/** Maximum length of the address at which a program waits, in characters. */
const REDIRECT_LENGTH_MAX = 2_000;

/**
 * The address at which a program on the user's own machine waits for the end of a login: plain HTTP, 127.0.0.1 or ::1, and a port.
 * Undefined for any other, so that no link can send the result of a login elsewhere.
 *
 * @example
 * loopbackRedirect("http://127.0.0.1:8000/done")?.href; // "http://127.0.0.1:8000/done"
 * loopbackRedirect("http://127.0.0.1:8000@evil.example/"); // undefined
 */
export function loopbackRedirect(text: string): URL | undefined {
  if (text.length > REDIRECT_LENGTH_MAX || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, hostname, port, username, password, hash } = url;
  if (protocol !== "http:" || !LOOPBACK.includes(hostname) || port === "") return undefined;
  return username === "" && password === "" && hash === "" ? url : undefined;
}

/** Reports whether an address stays on this machine, so that plain HTTP cannot be read in transit. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.includes(hostname) || hostname === "localhost";
}

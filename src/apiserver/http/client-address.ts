import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Returns the IP address of a request's client; "" when the connection has ended. */
export type AddressOf = (request: Pick<IncomingMessage, "headers" | "socket">) => string;

/**
 * Creates a function that returns the address of the client: the address of the connection or, if that is a trusted proxy, the last address
 * in `X-Forwarded-For` that is not a trusted proxy. Clients can forge the addresses before that one.
 *
 * @param proxies IP addresses, and networks such as 10.0.0.0/8.
 * @throws TypeError or RangeError for any other string.
 * @example
 * const addressOf = createAddressOf(["10.0.0.0/8"]);
 * addressOf({ headers: { "x-forwarded-for": "1.2.3.4, 203.0.113.7" }, socket }); // "203.0.113.7" for a socket from 10.1.2.3
 */
export function createAddressOf(proxies: readonly string[]): AddressOf {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = "", length] = proxy.split("/");
    const family = familyOf(address);
    trusted.addSubnet(address, length === undefined ? (family === "ipv4" ? 32 : 128) : Number(length), family);
  }
  return ({ headers, socket }) => {
    const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
    let address = socket.remoteAddress ?? "";
    while (isIP(address) !== 0 && trusted.check(address, familyOf(address))) {
      const before = forwarded.pop()?.trim() ?? "";
      if (isIP(before) === 0) return address;
      address = before;
    }
    return address;
  };
}

/** The address of the connection, regardless of the request's headers. */
export const remoteAddressOf: AddressOf = ({ socket }) => socket.remoteAddress ?? "";

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

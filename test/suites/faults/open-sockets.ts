/**
 * Which TCP connections this process has open, in words: a test that leaves one open says by that which part did not end.
 *
 * @module
 */
import { TLSSocket } from "node:tls";
import type { AddressInfo, Server, Socket } from "node:net";

/** Listeners by port; a reused port belongs to the newest. */
const listeners = new Map<number, string>();

/** Gives the port of an address a name for {@link openSockets}. */
export function namePort(url: string, name: string): void {
  listeners.set(Number(new URL(url).port), name);
}

interface Handle {
  readonly constructor: { readonly name: string };
}

/** Sockets and listeners of TCP that are open now, each described by its ports. */
export function openSockets(): string[] {
  // Node has no other way to list them; other handles have no `_handle` of TCP.
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.flatMap((one) => {
    const { _handle: handle } = one as { _handle?: Handle | null };
    if (one instanceof TLSSocket || handle?.constructor.name === "TCP") return [describe(one as Socket | Server)];
    return [];
  });
}

function describe(one: Socket | Server): string {
  if ("listening" in one) return `listener on ${nameOf((one.address() as AddressInfo | null)?.port)}`;
  const state = `${one.connecting ? "connecting" : one.readyState}, ${one.bytesWritten} bytes sent, ${one.bytesRead} received`;
  const kind = one instanceof TLSSocket ? "TLS socket" : "socket";
  return `${kind} ${nameOf(one.localPort)} → ${nameOf(one.remotePort)} (${state})`;
}

function nameOf(port: number | undefined): string {
  const name = port === undefined ? undefined : listeners.get(port);
  return name === undefined ? String(port) : `${port}, ${name}`;
}

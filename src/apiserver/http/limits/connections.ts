import type { Socket } from "node:net";
import type { Metrics } from "../../../base/metrics.ts";

/** Owner and state of a connection. */
interface Connection {
  readonly id: string;
  readonly socket: Socket;
  readonly address: string;
  /** Number of requests in progress on the connection. */
  busy: number;
}

/** Counts the connections of a server, so that a client with many connections cannot exclude others. */
export interface Connections {
  /** Must be called for each new connection. If there are too many, one is closed: see {@link createConnections}. */
  add(socket: Socket): void;
  /** Marks a request on the connection as in progress, until the returned function is called. */
  use(socket: Socket): () => void;
  readonly count: number;
}

/**
 * Limits a server to `max` connections. When another connection arrives, the address with the most connections loses the one that has been
 * idle for the longest time. If none of its connections is idle, the new connection is closed.
 */
export function createConnections(max: number, metrics: Metrics): Connections {
  // Ordered by last use.
  const all = new Map<string, Connection>();
  // By the socket of the requests. Caches the look-up by id.
  const bySocket = new WeakMap<Socket, Connection>();
  const makeRoom = () => {
    const counts = new Map<string, number>();
    for (const { address } of all.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
    const [most] = [...counts].reduce((left, right) => (right[1] > left[1] ? right : left));
    for (const one of all.values()) if (one.address === most && one.busy === 0) return one.socket;
    return undefined;
  };
  return {
    add(socket) {
      const id = idOf(socket);
      const victim = all.size < max ? undefined : (makeRoom() ?? socket);
      if (victim !== undefined) metrics.count("apiserver_rejected_requests_total", { reason: "connections" });
      if (victim !== undefined) all.delete(idOf(victim));
      victim?.destroy();
      if (victim === socket) return;
      const connection = { id, socket, address: socket.remoteAddress ?? "", busy: 0 };
      all.set(id, connection);
      socket.once("close", () => {
        if (all.get(id) === connection) all.delete(id);
      });
    },
    use(socket) {
      const connection = bySocket.get(socket) ?? all.get(idOf(socket));
      if (connection === undefined) return () => {};
      bySocket.set(socket, connection);
      connection.busy += 1;
      return () => {
        connection.busy -= 1;
        if (all.get(connection.id) !== connection) return;
        // Moves the connection to the end, as the one with the shortest idle time.
        all.delete(connection.id);
        all.set(connection.id, connection);
      };
    },
    get count() {
      return all.size;
    },
  };
}

/**
 * Caches a value that is derived from a text which every request on a connection repeats, such as credentials. Only the value of the last
 * text on each connection is kept. Without a connection, nothing is cached.
 *
 * @example
 * const digestOf = oncePerConnection(sha256Hex);
 * digestOf(credentials, request.socket);
 */
export function oncePerConnection(make: (text: string) => string): (text: string, connection?: object) => string {
  const last = new WeakMap<object, { readonly text: string; readonly made: string }>();
  return (text, connection) => {
    if (connection === undefined) return make(text);
    let known = last.get(connection);
    if (known?.text !== text) last.set(connection, (known = { text, made: make(text) }));
    return known.made;
  };
}

/** The id of a connection. A TLS socket and its TCP socket have the same remote address and port. */
function idOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

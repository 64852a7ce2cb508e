/**
 * A proxy that takes CONNECT, and resolves every name to this machine.
 */
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

/** A running proxy. */
export interface ConnectProxy {
  readonly host: string;
  /** Names and ports that it was asked for. */
  readonly targets: string[];
  /** `Proxy-Authorization` of each request. */
  readonly authorizations: (string | undefined)[];
  /** Everything that clients sent through it, as it saw it. */
  readonly passed: Buffer[];
  /** The answer in place of a tunnel; 0 for none at all. Undefined: a tunnel. */
  refuses: number | undefined;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const server = createServer((_, response) => void response.writeHead(405).end());
  server.on("connect", ({ url = "", headers }, client: Socket) => {
    proxy.targets.push(url);
    proxy.authorizations.push(headers["proxy-authorization"]);
    open.add(client);
    client.on("error", () => client.destroy());
    if (proxy.refuses === 0) return;
    if (proxy.refuses !== undefined) return void client.end(`HTTP/1.1 ${proxy.refuses} Refused\r\nContent-Length: 0\r\n\r\n`);
    const far = connect(Number(url.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.on("data", (chunk: Buffer) => void proxy.passed.push(chunk));
      client.pipe(far).pipe(client);
    });
    open.add(far);
    far.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: ConnectProxy = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets: [],
    authorizations: [],
    passed: [],
    refuses: undefined,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return proxy;
}

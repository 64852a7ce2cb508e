/**
 * Ports of a test's own, for servers that go away and come back, or that another process opens later. They are outside of the range from
 * which systems take unspecified ports: meanwhile no other server gets one of them, no client connects from it, and
 * a client that asks for a server that is away never finds itself.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:net";

const FIRST = 10_240;
/** Linux hands out ports from here on, others from later on. */
const END = 32_768;

const anyPort = () => FIRST + Math.floor(Math.random() * (END - FIRST));

/** Listens on a port of its own of the loopback interface, and answers it. */
export async function listenOnOwnPort(server: Server): Promise<number> {
  for (;;) {
    const port = anyPort();
    server.listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

/** Ports without a listener. */
export async function ownPorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(servers.map(listenOnOwnPort));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/**
 * Servers that speak the protocol of MySQL badly: they are left after their time, lines wait for the next one, and none gets the password
 * whose certificate is that of another host.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { systemChance } from "../../../../src/base/chance.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import type { LogFields } from "../../../../src/base/logger.ts";
import { createMetrics } from "../../../../src/base/metrics.ts";
import { createServerCertificate } from "../../../../src/apiserver/access/certificates.ts";
import { openAuditDatabase } from "../../../../src/management/audit/store/audit-database.ts";
import { AUDIT_GATHERING_MS, createAuditStore } from "../../../../src/management/audit/store/audit-store.ts";
import { openLines } from "../../../../src/management/audit/store/open-lines.ts";
import { dataStoreEndpoint } from "../../../../src/management/config/rules/data-store-endpoint.ts";
import { createFakeClock, settle, until } from "../../../support/fake-clock.ts";
import { rowOf } from "./rows.ts";

/** `CLIENT_SSL` among what every server of today can. */
const WITH_TLS = 0x81_ff_ff_ff;
const WITHOUT_TLS = 0x81_ff_f7_ff;

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server?.close();
  if (server !== undefined) await once(server, "close");
});

async function listen(serve: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function endpointOf(port: number, host = "127.0.0.1", end = "") {
  const endpoint = dataStoreEndpoint(`mysql://user:hidden-word@${host}:${port}/audit${end}`);
  if (endpoint?.kind !== "mysql") throw new Error("the address is one of MySQL");
  return endpoint;
}

function packet(number: number, ...parts: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = number;
  return Buffer.concat([head, body]);
}

/** The greeting of a server, version 10. */
function greeting(capabilities: number): Buffer {
  const flags = Buffer.alloc(4);
  flags.writeUInt32LE(capabilities);
  const middle = Buffer.from([0, flags[0]!, flags[1]!, 45, 2, 0, flags[2]!, flags[3]!, 21]);
  return packet(
    0,
    "\u000a8.0.0\0",
    Buffer.from([1, 0, 0, 0]),
    "12345678",
    middle,
    Buffer.alloc(10),
    "123456789012\0",
    "mysql_native_password\0",
  );
}

const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

/** Servers, with the seconds after which they are left. They report when nothing more comes from them. */
const SERVERS: readonly (readonly [what: string, seconds: number, serve: (socket: Socket, silent: () => void) => void])[] = [
  ["says nothing", 10, (_socket, silent) => silent()],
  ["sends half a greeting", 10, (socket, silent) => void socket.write(greeting(WITHOUT_TLS).subarray(0, 20), silent)],
  [
    "sends a greeting and nothing more",
    10,
    (socket, silent) => {
      socket.write(greeting(WITHOUT_TLS));
      socket.once("data", silent);
    },
  ],
  [
    "lets the user in and does not take the mode of the session",
    10,
    (socket, silent) => {
      socket.write(greeting(WITHOUT_TLS));
      socket.once("data", () => {
        socket.write(packet(2, OK));
        socket.once("data", silent);
      });
    },
  ],
  [
    "answers half a packet",
    10,
    (socket, silent) => {
      socket.write(greeting(WITHOUT_TLS));
      socket.once("data", () => {
        socket.write(packet(2, OK));
        socket.once("data", () => socket.write(packet(1, OK).subarray(0, 6), silent));
      });
    },
  ],
  [
    "opens and answers no statement",
    30,
    (socket, silent) => {
      socket.write(greeting(WITHOUT_TLS));
      socket.once("data", () => {
        socket.write(packet(2, OK));
        socket.once("data", () => {
          socket.write(packet(1, OK));
          socket.once("data", silent);
        });
      });
    },
  ],
];

test.each(SERVERS)("one that %s is left after %i seconds, and the lines wait", async (_what, seconds, serve) => {
  let silent = 0;
  const port = await listen((socket) => serve(socket.resume(), () => void silent++));
  const [clock, metrics, told] = [createFakeClock(), createMetrics(), [] as string[]];
  const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const store = createAuditStore({
    ...{ clock, metrics, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
    open: async (signal) => openAuditDatabase(await openLines(endpointOf(port), { signal, clock })),
  });
  store.write(rowOf());
  await clock.advance(AUDIT_GATHERING_MS);
  await until("it says nothing more", () => silent === 1);
  await clock.advance(seconds * 1_000 - 1);
  await settle();
  expect(told).toEqual([]);
  await clock.advance(1);
  await until("it is left", () => told.length > 0);
  expect(told).toEqual([
    `The audit database cannot be used; its lines are queued {"error":"the database did not respond within ${seconds} s"}`,
  ]);
  await clock.advance(1_000);
  await until("it is tried again", () => silent === 2);
  expect([store.pending, metrics.value("apiserver_audit_error_total", { plugin: "database" })]).toEqual([1, 0]);
  expect(told.join()).not.toContain("hidden-word");
  const closed = store.close();
  await settle();
  await clock.advance(2_000);
  await closed;
  await until("no connection is left", () => sockets.size === 0);
});

/** What a server that has a certificate for this name gets to see after TLS has begun. */
async function seenBy(name: string, host: string, end: string): Promise<{ readonly seen: string; readonly failure: string }> {
  const { caPem, certPem, keyPem } = createServerCertificate({ name: "test", dnsNames: [name], clock: systemClock, chance: systemChance });
  let seen = "";
  const behind = createTlsServer({ cert: certPem, key: keyPem }, (secure) => {
    secure.on("error", () => {});
    secure.on("data", (data) => {
      seen += data.toString("latin1");
      secure.destroy();
    });
  });
  behind.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await once(behind, "listening");
  const port = await listen((socket) => {
    socket.write(greeting(WITH_TLS));
    socket.once("data", (first) => {
      // The request for TLS, and what follows it.
      const inner = connect((behind.address() as AddressInfo).port, "127.0.0.1");
      sockets.add(inner);
      inner
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(inner);
          socket.destroy();
        });
      inner.write(first.subarray(36));
      socket.pipe(inner).pipe(socket);
      socket.on("close", () => inner.destroy());
    });
  });
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, caPem]);
  try {
    const failure = await openLines(endpointOf(port, host, end)).catch((error: unknown) => String(error));
    return { seen, failure: String(failure) };
  } finally {
    setDefaultCACertificates(before);
    behind.close();
  }
}

test("the user is told to a server that has the certificate of its host", async () => {
  expect((await seenBy("localhost", "localhost", "?tls=true")).seen).toContain("user");
});

test("neither user nor password are told to one with the certificate of another host", async () => {
  const { seen, failure } = await seenBy("another.example", "localhost", "?tls=true");
  expect([seen, failure]).toEqual(["", expect.stringContaining("altnames")]);
});

test("without a check of the certificate they are told to any", async () => {
  expect((await seenBy("another.example", "localhost", "?tls=skip-verify")).seen).toContain("user");
});

test("they are told to no server that does not encrypt, if they are to be encrypted", async () => {
  let seen = "";
  const port = await listen((socket) => {
    socket.write(greeting(WITHOUT_TLS));
    socket.on("data", (data) => (seen += data.toString("latin1")));
  });
  const failure = await openLines(endpointOf(port, "localhost", "?tls=true")).catch((error: unknown) => String(error));
  expect([seen, failure]).toEqual(["", expect.stringContaining("does not support")]);
});

test("one that is cut while TLS begins is a failure of its caller alone", async () => {
  let begun = false;
  const port = await listen((socket) => {
    socket.write(greeting(WITH_TLS));
    socket.on("data", () => (begun = true));
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("uncaughtExceptionMonitor", note);
  try {
    const ending = new AbortController();
    const opened = openLines(endpointOf(port, "localhost", "?tls=true"), { signal: ending.signal });
    const failure = opened.catch((error: unknown) => String(error));
    await until("TLS has begun", () => begun);
    ending.abort();
    expect(await failure).toMatch(/Error/);
    await settle();
    expect(unhandled).toEqual([]);
  } finally {
    process.off("uncaughtExceptionMonitor", note);
  }
});

test("one whose answer breaks the client takes its thread along, and nothing else: that is logged, and the database is opened again", async () => {
  let broken = 0;
  const port = await listen((socket) => {
    socket.write(greeting(WITHOUT_TLS));
    socket.once("data", () => {
      socket.write(packet(2, OK));
      // Half an error follows the answer, which nothing waits for.
      socket.once("data", () => socket.write(Buffer.concat([packet(1, OK), packet(2, Buffer.from([255, 1]))]), () => void broken++));
    });
  });
  const [clock, told] = [createFakeClock(), [] as string[]];
  const tell = (message: string, fields: LogFields = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const store = createAuditStore({
    ...{ clock, random: () => 0, ttlHours: 0, logger: { debug() {}, info: tell, warn: tell, error: tell } },
    open: async (signal) => openAuditDatabase(await openLines(endpointOf(port), { signal, clock })),
  });
  store.write(rowOf());
  await clock.advance(AUDIT_GATHERING_MS);
  await until("it is logged", () => told.length > 0);
  expect(told).toEqual([
    expect.stringMatching(/^The audit database cannot be used; its lines are queued .*the thread of the database has failed: /),
  ]);
  await clock.advance(1_000);
  await until("it is tried again", () => broken === 2);
  expect([store.pending, told.length]).toEqual([1, 1]);
  const closed = store.close();
  await settle();
  await clock.advance(2_000);
  await closed;
});

test.each([
  ["long", 65_535, "off"],
  ["long", 65_535, "on"],
  ["empty", 0, "off"],
] as const)(
  "one that answers with %s rows without an end is cut, and its thread lives on (%i bytes, encryption %s)",
  async (_what, length, encryption) => {
    const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
    const column = Buffer.concat([
      text("def"),
      text(""),
      text(""),
      text(""),
      text("line"),
      text(""),
      Buffer.from([12, 45, 0, 0, 0, 1, 0, 253, 0, 0, 0, 0, 0]),
    ]);
    const end = Buffer.from([0xfe, 0, 0, 2, 0]);
    const row =
      length === 0 ? Buffer.from([0]) : Buffer.concat([Buffer.from([0xfc, length & 0xff, length >> 8]), Buffer.alloc(length, "x")]);
    const { certPem, keyPem } = createServerCertificate({
      name: "test",
      dnsNames: ["localhost"],
      clock: systemClock,
      chance: systemChance,
    });
    // After so many packets their numbers begin again.
    const rows = Buffer.concat(Array.from({ length: 256 }, (_none, index) => packet((index + 4) % 256, row)));
    /** Packets of the handshake count from the greeting, and one more where TLS has begun. */
    const serve = (stream: Socket, first: number) => {
      stream.on("error", () => {});
      stream.once("data", () => {
        stream.write(packet(first, OK));
        stream.once("data", () => {
          stream.write(packet(1, OK));
          stream.once("data", () => {
            stream.write(Buffer.concat([packet(1, Buffer.from([1])), packet(2, column), packet(3, end)]));
            // A turn of the event loop for each write. The callback of a write that the system takes at once runs before the next turn, so
            // a reader that is fast enough would keep the loop from ever hearing of the end, and each write stays in memory until then.
            const pour = () => void (stream.destroyed || stream.write(rows, () => setImmediate(pour)));
            pour();
          });
        });
      });
    };
    const port = await listen((socket) => {
      socket.write(greeting(encryption === "on" ? WITH_TLS : WITHOUT_TLS));
      if (encryption === "off") return serve(socket, 2);
      socket.once("data", (request: Buffer) => {
        socket.pause();
        if (request.length > 36) socket.unshift(request.subarray(36));
        serve(new TLSSocket(socket, { isServer: true, cert: certPem, key: keyPem }), 3);
      });
    });
    const sql = await openLines(endpointOf(port, "localhost", encryption === "on" ? "?tls=skip-verify" : ""));
    await expect(sql.all("SELECT line FROM audit_events", [])).rejects.toThrow(
      /the database sent more than 16777216 bytes in one response/,
    );
    await until("the connection is gone", () => !sql.usable());
    await sql.close();
  },
);

/**
 * Lets a command reach the server that has a folder open, through a socket in the folder that only its owner can use. Data on the socket is
 * encrypted as it is on the disk.
 *
 * A request is one line, `contents` or `keys`. The response to `contents` is a line with revision, digest and number of objects, and then a
 * line for each object; that to `keys` is one line.
 *
 * @module
 */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { contentsOf, digestOf, type Contents } from "../../management/data/contents.ts";
import type { Resealable } from "../../apiserver/store/resealable.ts";
import type { Cipher } from "../../apiserver/store/cipher.ts";
import type { Store, StoredObject } from "../../apiserver/store/store.ts";

/** Options of the socket. */
export interface FolderSocketOptions {
  /** The folder. */
  readonly path: string;
  readonly store: Store & Resealable;
  readonly cipher: Cipher;
  readonly logger: Logger;
}

/** A socket that serves requests. */
export interface FolderSocket {
  close(): Promise<void>;
}

interface Head {
  readonly revision: number;
  readonly digest: string;
  readonly count: number;
}

const SOCKET = "server.sock";
/** Maximum length of a request. */
const REQUEST_MAX = 100;

/**
 * Serves the requests of commands until it is closed. If the socket cannot be opened, this is logged, and the server continues without it.
 */
export async function serveFolder(options: FolderSocketOptions): Promise<FolderSocket> {
  const file = socketPath(options.path);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => {});
    void answer(socket, options).catch(() => socket.destroy());
  });
  try {
    // The socket is from a process that has ended: this process owns the database.
    await rm(file, { force: true });
    server.listen(file);
    await once(server, "listening");
    await chmod(file, 0o600);
  } catch (error) {
    options.logger.warn("The platform-data commands cannot reach this server: stop the server before you make a backup", {
      error: messageOf(error),
    });
  }
  return {
    async close() {
      for (const socket of open) socket.destroy();
      if (server.listening) await closed(server);
    },
  };
}

/** Socket paths must be short, so a nearby one is given relative to the working directory. */
function socketPath(folder: string): string {
  const [absolute, near] = [join(folder, SOCKET), relative("", join(folder, SOCKET))];
  return near.length < absolute.length ? near : absolute;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

async function answer(socket: Socket, { store, cipher }: FolderSocketOptions): Promise<void> {
  const request = await firstLine(socket);
  if (request === "keys") return void socket.end(`${JSON.stringify([...(await store.sealedBy())])}\n`);
  if (request !== "contents") return void socket.destroy();
  await pipeline(Readable.from(linesOf(await contentsOf(store), cipher)), socket);
}

async function firstLine(socket: Socket): Promise<string> {
  let text = "";
  while (!text.includes("\n") && text.length < REQUEST_MAX) text += String(((await once(socket, "data")) as [Buffer])[0]);
  return text.slice(0, text.indexOf("\n"));
}

function* linesOf({ revision, objects }: Contents, cipher: Cipher): Generator<string> {
  yield `${JSON.stringify({ revision, digest: digestOf(objects), count: objects.length } satisfies Head)}\n`;
  for (const { key, object } of objects) yield `${JSON.stringify([key, cipher.seal(key, JSON.stringify(object))])}\n`;
}

/**
 * Requests the number of values that each key encrypts from the server that has a folder open; undefined when no server has it open.
 *
 * @throws STORE_FAILED when the server does not respond.
 */
export async function askKeys(folder: string): Promise<ReadonlyMap<string, number> | undefined> {
  const lines = await ask(folder, "keys");
  return lines && new Map(JSON.parse(lines[0] ?? "") as [string, number][]);
}

/**
 * Requests all stored data, in one consistent state, from the server that has a folder open; undefined when no server has it open.
 *
 * @throws STORE_FAILED when the response is incomplete, or none of the available keys can decrypt it.
 */
export async function askContents(folder: string, cipher: Cipher): Promise<Contents | undefined> {
  const lines = await ask(folder, "contents");
  if (lines === undefined) return undefined;
  const [first = "", ...rest] = lines;
  const head = JSON.parse(first) as Head;
  const objects = rest.map((line) => readLine(line, cipher));
  if (objects.length !== head.count || digestOf(objects) !== head.digest) throw cutOff(folder);
  return { revision: head.revision, objects };
}

function readLine(line: string, cipher: Cipher): StoredObject {
  const [key, sealed] = JSON.parse(line) as [string, string];
  const object = JSON.parse(cipher.open(key, sealed)) as KubeObject;
  return { key, object, revision: Number(object.metadata.resourceVersion) };
}

async function ask(folder: string, request: string): Promise<string[] | undefined> {
  const socket = connect(socketPath(folder));
  try {
    await once(socket, "connect");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The socket does not exist, or is from a server that was killed.
    if (code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR") return undefined;
    throw new EngineError("STORE_FAILED", `Cannot reach the server that uses "${folder}": ${messageOf(error)}`, { cause: error });
  }
  let whole = "";
  const lines: string[] = [];
  try {
    socket.write(`${request}\n`);
    for await (const line of createInterface(socket)) lines.push((whole = line));
  } finally {
    socket.destroy();
  }
  if (whole === "") throw cutOff(folder);
  return lines;
}

function cutOff(folder: string): EngineError {
  const details = { hint: "Check the server's log, then run the command again" };
  return new EngineError("STORE_FAILED", `The server that uses "${folder}" closed the connection before it sent all data`, { details });
}

/**
 * State that a server keeps next to its data: certificate and port. The file exists if a server has used the folder. Its member `open`
 * means that a server is running or was killed; the database then has a log next to it with the latest writes.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../base/json.ts";
import { fitTogether } from "../../cluster/credentials.ts";
import type { ServerCertificate } from "../../apiserver/access/certificates.ts";
import { readKeptFile, writeKeptFile } from "../files/kept-file.ts";

/** The name of the file. */
export const SERVER_FILE = "server.json";

/** Content of the file. */
export interface KeptServer extends ServerCertificate {
  readonly port: number;
  /** True if a server has the data open, or has not closed the data. Default false. */
  readonly open?: boolean;
}

/**
 * Reads the state of a folder from its file; undefined if there is no file.
 *
 * @throws CONFIG_FILE when the file cannot be read, or contains something else.
 */
export async function readServerFile(folder: string): Promise<KeptServer | undefined> {
  const hint = "Remove the file to generate a new certificate; earlier kubeconfigs do not trust it";
  return readKeptFile({ path: join(folder, SERVER_FILE), isKept, what: "certificate of a server", hint });
}

/** Writes the state of a folder to its file, readable only by its owner. @throws CONFIG_FILE when it cannot be written. */
export async function writeServerFile(folder: string, kept: KeptServer): Promise<void> {
  await writeKeptFile(join(folder, SERVER_FILE), formatServer(kept));
}

/** The text of the file for a copy of the data, which no server has open; undefined if the file does not exist or cannot be read. */
export async function readServerText(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, SERVER_FILE), "utf8").catch(() => undefined);
  const kept = text === undefined ? undefined : parse(text);
  return isKept(kept) && kept.open !== undefined ? formatServer({ ...kept, open: false }) : text;
}

/** Marks the data as closed, if the file marks it as open. @throws CONFIG_FILE when that fails. */
export async function noteClosed(folder: string): Promise<void> {
  const text = await readFile(join(folder, SERVER_FILE), "utf8").catch(() => "");
  const kept = parse(text);
  if (isKept(kept) && kept.open === true) await writeServerFile(folder, { ...kept, open: false });
}

function formatServer({ caPem, certPem, keyPem, port, open = false }: KeptServer): string {
  return `${JSON.stringify({ caPem, certPem, keyPem, port, ...(open && { open }) }, null, 2)}\n`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKept(value: unknown): value is KeptServer {
  if (!isRecord(value) || !Number.isInteger(value["port"]) || !["undefined", "boolean"].includes(typeof value["open"])) return false;
  if (!["caPem", "certPem", "keyPem"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as ServerCertificate);
}

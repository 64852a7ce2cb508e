/**
 * What a server keeps beside its data: certificate and port. That it is there says that a server has run on the folder.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../base/json.ts";
import { fitTogether } from "../../clusters/credentials.ts";
import type { ServerCertificate } from "../../server/access/certificates.ts";
import { readKeptFile } from "../kept-file.ts";

/** The name of the file. */
export const SERVER_FILE = "server.json";

/** What is in the file. */
export interface KeptServer extends ServerCertificate {
  readonly port: number;
}

/**
 * What a folder keeps; undefined when there is none.
 *
 * @throws CONFIG_FILE when it cannot be read, or holds something else.
 */
export async function readServerFile(folder: string): Promise<KeptServer | undefined> {
  const hint = "Remove the file to have a new certificate made; kubeconfigs from before do not trust it";
  return readKeptFile({ path: join(folder, SERVER_FILE), isKept, what: "certificate of a server", hint });
}

/** The text of the file, whatever it is; undefined when there is none, or it cannot be read. */
export async function readServerText(folder: string): Promise<string | undefined> {
  return readFile(join(folder, SERVER_FILE), "utf8").catch(() => undefined);
}

function isKept(value: unknown): value is KeptServer {
  if (!isRecord(value) || !Number.isInteger(value["port"])) return false;
  if (!["caPem", "certPem", "keyPem"].every((field) => typeof value[field] === "string" && value[field] !== "")) return false;
  return fitTogether(value as unknown as ServerCertificate);
}

/**
 * Writes the files of `deploy/install`: `npm run deploy:install`, where a kubectl is installed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubectlPath } from "../overlays.ts";
import { INSTALL_FOLDER, installFile, VARIANTS } from "./variants.ts";

if (kubectlPath === undefined) throw new Error("The files are made by kubectl, and there is none");
mkdirSync(INSTALL_FOLDER, { recursive: true });
for (const name of Object.keys(VARIANTS)) writeFileSync(join(INSTALL_FOLDER, `${name}.yaml`), installFile(name));

/**
 * Records `endpoint-sync demo` as `docs/images/demo.svg`: `npm run docs:recording`, where a kubectl is installed.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubectlPath } from "../test/deploy/overlays.ts";
import { recordDemo } from "./generate/recorded-demo.ts";
import { recordingSvg } from "./generate/recording.ts";

if (kubectlPath === undefined) throw new Error("The changes of the demonstration are made by kubectl, and there is none");
const about =
  "Two clusters start with the syncer between them, and a table shows every object with its copy. An annotation of the tenant is changed and appears on the host with a prefix; an edit on the host is synced back without it.";
const svg = recordingSvg(await recordDemo(kubectlPath), { title: "endpoint-sync demo, recorded", about });
writeFileSync(join(import.meta.dirname, "images/demo.svg"), svg);

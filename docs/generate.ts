/**
 * Writes the reference pages, and parts of them, that say what the code says already. `npm run docs` writes them; `test/docs/pages.test.ts` compares.
 *
 * A new page is one entry of {@link PAGES}: its path below `docs/`, and a function that gives its text.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cliPage } from "./generate/cli-page.ts";
import { conformancePage } from "./generate/conformance-page.ts";
import { configurationPage, settingsPage } from "./generate/schema-pages.ts";
import { contextTypes, expressionsPage } from "./generate/host-functions.ts";
import { errorsPage } from "./generate/errors-page.ts";
import { licencesPage } from "./generate/licences-page.ts";
import { managementApiPage } from "./generate/management-api-page.ts";
import { managementConfigPage } from "./generate/management-config-page.ts";
import { testFilesPage } from "./generate/test-files-page.ts";
import { PERMISSIONS_FILE, permissionsPage, permissionsTable } from "./generate/permissions-page.ts";

/** Generated pages: path below `docs/` → text. The same source gives the same text, byte for byte. */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "reference/cli.md": cliPage,
  "reference/conformance.md": conformancePage,
  "reference/configuration.md": configurationPage,
  "reference/errors.md": errorsPage,
  "reference/expressions.md": expressionsPage,
  "reference/licences.md": licencesPage,
  "reference/management-api.md": managementApiPage,
  "reference/management-config.md": managementConfigPage,
  [PERMISSIONS_FILE]: permissionsTable,
  "reference/permissions.md": permissionsPage,
  "reference/settings.md": settingsPage,
  "reference/test-files.md": testFilesPage,
  "../types/context.d.ts": contextTypes,
};

/** Writes every page below `folder`. */
async function writePages(folder: string): Promise<void> {
  for (const [path, page] of Object.entries(PAGES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), await page());
  }
}

if (process.argv[1] === import.meta.filename) await writePages(import.meta.dirname);

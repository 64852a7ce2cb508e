import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents. Node's own option (`recursive`) never returns where the system creates no folders, such as
 * below `/proc`.
 *
 * @param mode - permissions of the folders that are created. Default: only their owner can read them.
 * @throws the system's error.
 */
export async function createFolders(path: string, mode = 0o700): Promise<void> {
  if (await isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) await createFolders(above, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

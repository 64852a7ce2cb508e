import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents. Node's own option `recursive` never returns in places where folders cannot be created, such as
 * below `/proc`.
 *
 * @param mode Permissions of the created folders. Default: only their owner can read them.
 * @throws the error of the operating system.
 */
export async function createFolders(path: string, mode = 0o700): Promise<void> {
  if (await isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) await createFolders(above, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!(await isFolder(path))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, unless they exist. Node's own way (`recursive`) never ends where the system makes no folders, such as
 * below `/proc`.
 *
 * @param mode - permissions of folders that are made. Default: only their owner can read them.
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

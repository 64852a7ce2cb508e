import { statSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { EngineError, messageOf } from "../../../base/errors.ts";

/**
 * Reports changes in folders, without their subfolders. It watches folders rather than files, because an editor that saves by renaming
 * would end the watch of a file.
 */
export class FolderWatch {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>();
  readonly #notify: (path: string) => void;

  /** `notify` receives the path of a file that was created, changed, renamed or removed, or of its folder if the system reports no file. */
  constructor(notify: (path: string) => void) {
    this.#notify = notify;
  }

  /**
   * Watches these folders from now on, and no others. Folders that do not exist are skipped.
   *
   * @throws USAGE when the system cannot watch more folders.
   */
  follow(folders: ReadonlySet<string>): void {
    for (const [folder, { inode }] of this.#watchers) {
      // A folder that replaces a removed one is not watched yet.
      if (!folders.has(folder) || inodeOf(folder) !== inode) this.#end(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#begin(folder);
  }

  close(): void {
    this.follow(new Set());
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, (_event, name) => this.#notify(name === null ? folder : join(folder, name)));
      this.#watchers.set(folder, { watcher, inode: inodeOf(folder) });
      // A removed folder may be created again.
      watcher.on("error", () => (this.#end(folder), this.#notify(folder)));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return;
      const details = { hint: "Watch fewer folders, or raise the system's limit: fs.inotify.max_user_watches on Linux" };
      throw new EngineError("USAGE", `Cannot watch "${folder}": ${messageOf(error)}`, { cause: error, details });
    }
  }

  #end(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

/** Returns a number that distinguishes a folder from a later one with the same name; 0 if there is none. */
function inodeOf(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.ino ?? 0;
}

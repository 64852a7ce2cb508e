/**
 * The README where its tarball is installed: every block of commands that is not for a clone, pasted in order into one shell.
 *
 * @module
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { openPastedShell } from "../../support/pasted-shell.ts";
import { pasteReadmeBlock, README_BLOCKS, README_COMMANDS, README_SHIMS } from "../../support/readme-blocks.ts";
import { isUnreachable } from "./command.ts";

/** A block, and the place where it is pasted. */
export interface ReadmeCheck {
  /** It is made, and holds nothing but the tarball. */
  readonly folder: string;
  readonly tarball: string;
  /** Puts the package into the folder when npm does not reach its registry. */
  readonly link: (folder: string) => Promise<void>;
}

/**
 * Pastes, and gives how many blocks were pasted and whether the package was installed rather than linked.
 *
 * @throws Error when a block fails, or does not print what it should.
 */
export async function checkReadme({ folder, tarball, link }: ReadmeCheck): Promise<{ pasted: number; isInstalled: boolean }> {
  mkdirSync(folder);
  copyFileSync(tarball, join(folder, basename(tarball)));
  const shell = openPastedShell({ folder, shims: README_SHIMS });
  let isInstalled = true;
  let pasted = 0;
  try {
    for (const [index, block] of README_BLOCKS.entries()) {
      if (block.notIn?.tarball !== undefined) continue;
      pasted += 1;
      await pasteReadmeBlock(shell, README_COMMANDS[index]!, block).catch(async (error: unknown) => {
        if (!block.begins.startsWith("npm install") || !isUnreachable(error)) throw error;
        isInstalled = false;
        await link(folder);
      });
    }
  } finally {
    await shell.close();
  }
  return { pasted, isInstalled };
}

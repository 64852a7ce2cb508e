/**
 * Loaded before a command: kills the process at the n-th step that changes the disk, before or after it. KILL_AT is n; steps are
 * reported on standard error, so that the caller knows at the end that there are no more.
 */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";

const killAt = Number(process.env["KILL_AT"]);
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, "SIGKILL");
}

const { exec, close } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  const writes = /COMMIT|journal_mode/.test(sql);
  if (writes) step();
  exec.call(this, sql);
  if (writes) step();
};
DatabaseSync.prototype.close = function () {
  step();
  close.call(this);
  step();
};
const { rename, open } = fs;
fs.rename = async (from, to) => {
  step();
  await rename(from, to);
  step();
};
fs.open = async (...args) => {
  step();
  return open(...args);
};
syncBuiltinESMExports();

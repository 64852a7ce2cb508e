/** An API server alone in its process, which reports how much CPU time and memory it has used. */
import { startManagement } from "../../src/management.ts";

const [adminKey] = process.argv.slice(2) as [string];
const { url } = await startManagement({ tls: false, adminKey });
process.on("disconnect", () => process.exit());
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send!({ cpuMs: (user + system) / 1_000, rssMb: process.memoryUsage.rss() / 1e6 });
});
process.send!(url);

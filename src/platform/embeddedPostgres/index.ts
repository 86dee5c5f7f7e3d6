/**
 * A real PostgreSQL 18 in a data folder, for installations without a server of their own.
 *
 * Terms
 *   cluster  the folder in which PostgreSQL keeps its data: <dataDir>/postgres
 *   server   the PostgreSQL process (postmaster) that runs on a cluster
 *   use      the time from start() to stop() of one Node process; recorded beside the cluster, and
 *            over when the process ends (kill -9 leaves the server running)
 *   attach   begin a use of a server that is already running
 *   orphan   a server's child that outlived its postmaster
 *
 * Invariants
 *   E1 At most one server runs on a cluster. PostgreSQL guards this; nothing here weakens the guard
 *      except where no PostgreSQL process can be left in the folder (server.ts S2).
 *   E2 Starting, attaching and stopping happen under one lock per data folder, which is released when
 *      its holder ends (startLock.ts). Of two concurrent starts, one starts the server and one attaches.
 *   E3 The last use that ends stops the server, regardless of which process started it: a command that
 *      started it does not stop it while another process uses it.
 *   E4 A process is identified by pid and start time, never by pid alone (processes.ts).
 *   E5 The server outlives Ctrl-C and the end of its users; only stop() ends it, and cleanly.
 *   E6 Committed data is on disk: fsync, synchronous_commit and full_page_writes are on, and checksums
 *      detect a faulty disk.
 *   E7 It listens only on 127.0.0.1 and requires a password from every client (scram-sha-256).
 *   E8 A start that is killed at any moment leaves a folder that the next start can use (cluster.ts C1).
 *   E9 A server that ends while a process supervises it is started again on its port, within limits.
 *      Beyond them, the process gets the reason (supervise.ts).
 *
 * Out of scope: upgrading a cluster to another major version, and sharing a data folder between
 * machines or containers, which cannot see each other's processes.
 */
import { processTable } from './processes.ts';
import { freePort } from './server.ts';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, start } from './start.ts';

export { EmbeddedPostgresError } from './errors.ts';
export type { EmbeddedPostgres, EmbeddedPostgresOptions } from './start.ts';

/** Starts the server, or attaches to the one that already runs for this dataDir. Creates database `tallyhook` if missing. */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return start(options, { processes: processTable(), choosePort: freePort });
}

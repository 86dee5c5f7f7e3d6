/**
 * A real PostgreSQL 18 under a data folder, for whoever has no server of their own.
 *
 * Terms
 *   cluster  the folder in which PostgreSQL keeps its data: <dataDir>/postgres
 *   server   the PostgreSQL process (postmaster) that runs on a cluster
 *   use      what a Node process has of the server from start() to stop(); written down beside the
 *            cluster, and over when the process is (kill -9 leaves the server running)
 *   attach   begin a use of a server that runs already
 *   orphan   a server's child that outlived its postmaster
 *
 * Invariants
 *   E1 At most one server runs on a cluster. PostgreSQL guards this; nothing here weakens the guard
 *      except where no PostgreSQL process can be left in the folder (server.ts S2).
 *   E2 Starting, attaching and stopping happen under one lock per data folder, which dies with its
 *      holder (startLock.ts). Two starts at once end in one server and one attached to it.
 *   E3 The server is stopped by the use that ends last, whoever started it: a command that began it
 *      for itself does not take it from a process that came later and stays.
 *   E4 A process is named by pid and start time, never by pid alone (processes.ts).
 *   E5 The server outlives Ctrl-C and the death of those who use it; only stop() ends it, and cleanly.
 *   E6 What was committed is on disk: fsync, synchronous_commit and full_page_writes are on, and
 *      checksums tell a disk that lies.
 *   E7 It listens on 127.0.0.1 only and asks everyone for a password (scram-sha-256).
 *   E8 A start that is killed at any moment leaves a folder that the next start can use (cluster.ts C1).
 *   E9 A server that ends while a process supervises it is started again on its port, within limits;
 *      beyond them the process learns the reason (supervise.ts).
 *
 * Deliberately not done: upgrading a cluster to another major version, and sharing a data folder between machines or containers, whose processes cannot
 * see each other.
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

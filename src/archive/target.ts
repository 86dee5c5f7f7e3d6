/** Where an archive is stored. */
import type { Readable } from 'node:stream';

export interface ArchiveTarget {
  /** For people: a folder, or a bucket and prefix. */
  readonly description: string;
  /**
   * Stores an object. Resolves when it is durable. A reader sees the old object or the new one, never a
   * part of it.
   */
  put(name: string, bytes: Buffer): Promise<void>;
  /** @returns undefined if there is no such object */
  get(name: string): Promise<Readable | undefined>;
  /** The names of all objects below `folder`; of the whole archive without one. */
  list(folder?: string): AsyncIterable<string>;
  /** Throws unless the archive can be reached; a folder also unless it could be written. Changes nothing. */
  probe(): Promise<void>;
  close(): void;
}

import { hash } from 'node:crypto';
import type { SnapshotContent } from './domain/snapshot.ts';

/** SHA-256 of a snapshot's content, in hexadecimal. The content's fields always have the same order. */
export function contentHash(content: SnapshotContent): string {
  return hash('sha256', JSON.stringify(content), 'hex');
}

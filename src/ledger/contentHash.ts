import { hash } from 'node:crypto';
import type { SnapshotContent } from './domain/snapshot.ts';

/** SHA-256 of a content, as hexadecimal text. Its fields are always built in the same order. */
export function contentHash(content: SnapshotContent): string {
  return hash('sha256', JSON.stringify(content), 'hex');
}

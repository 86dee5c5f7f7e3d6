/**
 * Lanes divide work on many keys among processes: work on one key is always in the same lane.
 *
 * The number bounds the locks of one transaction, of which a server has 64 for each connection it accepts by
 * default. With fewer lanes, more keys that have nothing in common would wait for each other.
 */
import { crc32 } from 'node:zlib';

export const LANES = 512;

/** @returns the lane of a key, from 0 to `LANES - 1`; the same in every process and version */
export function laneOf(key: string | Uint8Array): number {
  return crc32(key) % LANES;
}

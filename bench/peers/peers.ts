/** The programs that Tallyhook is compared with. */
import type { Peer } from './peer.ts';
import { stripeSyncEngine } from './stripeSyncEngine.ts';

export const PEERS: readonly Peer[] = [stripeSyncEngine];

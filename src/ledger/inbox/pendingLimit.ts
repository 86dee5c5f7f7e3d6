/**
 * How long an event may wait before it is reported as not applied. A burst is applied sooner, and the
 * sweep has re-enqueued a lost job several times by then.
 */
import { MINUTE_MS } from '../../platform/time.ts';

export const PENDING_LIMIT_MS = 5 * MINUTE_MS;

/** Retrieves of the four kinds of resources, as of the time that the fault `lag_ms` chooses. */
import type { ResourceKind } from '../../contract/index.ts';
import { accept, type Decision } from '../domain/decision.ts';
import { isoTime } from '../domain/time.ts';
import { retrieveView } from '../faults/views.ts';
import type { Services } from '../services.ts';

/** @returns undefined where the resource does not exist, or did not exist then */
export async function retrieve(
  { clock, store, faults }: Services,
  kind: ResourceKind,
  id: string,
): Promise<Decision<object> | undefined> {
  const { lag_ms: lagMs } = faults.current().retrieves;
  const found =
    lagMs === 0
      ? await store.readResource(kind, id)
      : await store.readPastResource({ kind, id, asOf: isoTime(clock.nowMs() - lagMs) });
  return found && accept(retrieveView(found, faults.context()));
}

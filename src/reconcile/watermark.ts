/**
 * Corrects the watermark of a list that lies ahead of the service's clock: a clock was wrong when a run
 * moved it. Until the clock caught up, every tail would begin after its end and compare nothing.
 *
 * 1. Such a watermark is not used. It is set back to the end of the last run that followed a correct one,
 *    or removed where there is none: then the next run reads as far back as a first import, and raises
 *    alerts all the same, since the list was imported.
 * 2. That is a finding about the list, opened in the same transaction. The run that resumes at a
 *    watermark closes it.
 */
import { openFindings } from '../ledger/recordFindings.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { listSubject } from './findings.ts';
import { readTrustedWatermark } from './store/runs.ts';
import { replaceWatermark } from './store/streams.ts';
import type { Stream } from './streams.ts';

interface KnownWatermark {
  readonly stream: Stream;
  readonly watermarkAt: Date | null;
  /** The service's time; the local one where it sends none. */
  readonly serviceMs: number;
  readonly isDryRun: boolean;
}

/** The watermark that a run may follow, corrected where it was wrong; a dry run changes nothing. */
export async function usableWatermark(
  { db, log }: { readonly db: Database; readonly log: Log },
  { stream, watermarkAt, serviceMs, isDryRun }: KnownWatermark,
): Promise<Date | null> {
  if (watermarkAt === null || watermarkAt.getTime() <= serviceMs) return watermarkAt;
  const serviceAt = new Date(serviceMs);
  const trustedAt = await readTrustedWatermark(db, stream, serviceAt);
  if (isDryRun) return trustedAt;
  const detail = {
    watermark: watermarkAt.toISOString(),
    service_time: serviceAt.toISOString(),
    set_to: trustedAt?.toISOString() ?? null,
  };
  await db.transaction(async (tx) => {
    await replaceWatermark(tx, stream, { from: watermarkAt, to: trustedAt });
    await openFindings(tx, [{ class: 'watermark_ahead', subject: listSubject(stream), detail }]);
  });
  log.warn({ stream, ...detail }, 'reconcile.watermark_set_back');
  return trustedAt;
}

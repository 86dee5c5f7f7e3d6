/**
 * What a part of `npm run prove` writes while it runs: one JSON object a line, each with its own delivery check.
 * Tests append them through test/support/recordFigures.ts, and benches are read by benchRecords.ts.
 *
 * Terms. *Lost*: an acknowledged event that is not in the inbox, or was never applied. *Doubled*: done twice.
 */
import { z } from 'zod';

const count = z.int().min(0);
const seconds = z.number().min(0);
const perSecond = z.number().min(0);

/** Kills of one process or server under load. */
const kills = z.strictObject({
  kind: z.literal('kills'),
  /** What was killed, and in which setting: "events worker, queues in Redis". */
  killed: z.string(),
  kills: count,
  acknowledged: count,
  lost: count,
  /** Order webhooks that the shop must have received at the end, and those that it did not. */
  orderWebhooks: z.strictObject({ expected: count, lost: count }).optional(),
  /** From each kill until every event sent until then was applied; empty where it is not measured. */
  appliedAfterSeconds: z.array(seconds),
});

/** One full run after faults, compared with the service to the cent. */
const repair = z.strictObject({
  kind: z.literal('repair'),
  seed: z.int(),
  lossPercent: z.number(),
  payments: count,
  requests: count,
  seconds,
  /** Parts and orders that differ from the service after the run. */
  differences: count,
  /** Findings about differences that are still open then, although nothing differs. */
  openFindings: count,
});

/** Alerts of an installation, compared with the history of the service. */
const alerts = z.strictObject({
  kind: z.literal('alerts'),
  seed: z.int(),
  orders: count,
  raised: count,
  false: count,
  missing: count,
  doubled: count,
});

/** Captures by the policy of authorizations. */
const captures = z.strictObject({
  kind: z.literal('captures'),
  /** The response that was lost or wrong, or where the process ended. */
  fault: z.string(),
  holds: count,
  requests: count,
  captured: count,
  /** Holds that were captured twice, or of which more was captured than was held. */
  doubled: count,
});

const bytes = z.strictObject({
  kind: z.literal('bytes'),
  events: count,
  bodyBytes: count,
  /** Of all tables with their indexes. */
  bytesPerEvent: z.number(),
  /** The largest tables, in bytes per event. */
  tables: z.record(z.string(), z.number()),
});

const delivery = { acknowledged: count, lost: count };
const times = z.strictObject({ p50Ms: z.number(), p99Ms: z.number() });

/** Intake beside a bare route that verifies and stores nothing. */
const intake = z.strictObject({
  kind: z.literal('intake'),
  pairs: z.array(
    z.strictObject({
      barePerSecond: perSecond,
      acceptedPerSecond: perSecond,
      reply: times,
      /** Cores that other programs used. */
      otherCores: z.number().optional(),
    }),
  ),
  ...delivery,
});

/** Everything running, as fast as it goes. */
const endToEnd = z.strictObject({
  kind: z.literal('end_to_end'),
  seconds,
  barePerSecond: perSecond,
  acceptedPerSecond: perSecond,
  appliedPerSecond: perSecond,
  acceptedOfBare: z.number(),
  appliedOfAccepted: z.number(),
  otherCores: z.number().optional(),
  ...delivery,
});

/** Everything running, at a rate far below what it can take. */
const steady = z.strictObject({
  kind: z.literal('steady'),
  seconds,
  ratePerSecond: perSecond,
  reply: times,
  /** From the reply until the event is applied. */
  applied: times,
  orderWebhooks: times.optional(),
  otherCores: z.number().optional(),
  ...delivery,
});

export const figureRecord = z.discriminatedUnion('kind', [
  kills,
  repair,
  alerts,
  captures,
  bytes,
  intake,
  endToEnd,
  steady,
]);

export type FigureRecord = z.infer<typeof figureRecord>;
export type RecordKind = FigureRecord['kind'];
export type RecordOf<Kind extends RecordKind> = Extract<FigureRecord, { readonly kind: Kind }>;

/** @throws if a line is no record */
export function parseRecords(text: string): readonly FigureRecord[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => figureRecord.parse(JSON.parse(line)));
}

/** The promises that a record shows to be broken, in words; none if all held. */
export function brokenPromises(record: FigureRecord): readonly string[] {
  switch (record.kind) {
    case 'kills': {
      const { killed, lost, orderWebhooks } = record;
      return [
        ...broken(lost, `acknowledged events lost by kills of ${killed}`),
        ...broken(orderWebhooks?.lost ?? 0, `order webhooks lost by kills of ${killed}`),
      ];
    }
    case 'repair':
      return [
        ...broken(record.differences, `differences after a full run, seed ${record.seed}`),
        ...broken(record.openFindings, `findings open after a full run, seed ${record.seed}`),
      ];
    case 'alerts':
      return [
        ...broken(record.false, `false alerts, seed ${record.seed}`),
        ...broken(record.missing, `missing alerts, seed ${record.seed}`),
        ...broken(record.doubled, `doubled alerts, seed ${record.seed}`),
      ];
    case 'captures':
      return [
        ...broken(record.doubled, `double captures, ${record.fault}`),
        ...broken(record.holds - record.captured, `holds not captured, ${record.fault}`),
      ];
    case 'bytes':
      return [];
    case 'intake':
    case 'end_to_end':
    case 'steady':
      return broken(record.lost, 'acknowledged events lost under load');
  }
}

function broken(number: number, what: string): readonly string[] {
  return number > 0 ? [`${number} ${what}`] : [];
}

/**
 * The figures of docs/figures.md, computed from the records of the parts. Each line has a count beside its value,
 * and its spread where there is more than one value; nothing is shown by its maximum alone.
 */
import { groupBy } from '../../src/platform/collections.ts';
import type { FigureRecord, RecordKind, RecordOf } from './records.ts';

export interface Section {
  readonly title: string;
  readonly text: string;
  readonly columns: readonly string[];
  readonly linesOf: (records: readonly FigureRecord[]) => readonly (readonly string[])[];
}

export const SECTIONS: Readonly<Record<RecordKind, Section>> = {
  kills: section('kills', {
    title: 'Acknowledged events lost',
    text: `A process or server is ended by \`kill -9\` at random moments under load, and started again. *Lost* is an acknowledged event that is not in the inbox, or was never applied; at the end the ledger equals what was sent, to the cent. The seconds are from a kill until everything sent until then was applied; \`–\` where that is not measured.`,
    columns: [
      'killed',
      'kills',
      'acknowledged events',
      'lost',
      'order webhooks lost',
      'seconds until applied, median (range)',
    ],
    linesOf: (records) =>
      [...groupBy(records, ({ killed }) => killed)].map(([killed, own]) => {
        const orderWebhooks = own.flatMap((record) => record.orderWebhooks ?? []);
        const expected = whole(sum(orderWebhooks, (one) => one.expected));
        return [
          killed,
          whole(sum(own, ({ kills }) => kills)),
          whole(sum(own, ({ acknowledged }) => acknowledged)),
          whole(sum(own, ({ lost }) => lost)),
          orderWebhooks.length === 0
            ? NONE
            : `${whole(sum(orderWebhooks, ({ lost }) => lost))} of ${expected}`,
          spread(
            own.flatMap(({ appliedAfterSeconds }) => appliedAfterSeconds),
            1,
          ),
        ];
      }),
  }),
  repair: section('repair', {
    title: 'Convergence',
    text: 'A shop trades for eight days of simulated time while the service has random faults and loses webhooks. Then one full run over 120 days makes the ledger equal to the service. The requests are those of the run, and of the checks that it leaves due. *Differing* counts parts and orders that are not equal to the cent afterwards, *open findings* those about differences that should have been closed by then.',
    columns: [
      'webhooks lost',
      'seeds',
      'payments',
      'requests per 1,000 payments, median (range)',
      'seconds to convergence, median (range)',
      'differing',
      'open findings',
    ],
    linesOf: (records) =>
      [...groupBy(records, ({ lossPercent }) => lossPercent)]
        .toSorted(([one], [other]) => one - other)
        .map(([lossPercent, own]) => [
          `${lossPercent} %`,
          whole(own.length),
          whole(sum(own, ({ payments }) => payments)),
          spread(
            own.map(({ requests, payments }) => (requests / payments) * 1_000),
            0,
          ),
          spread(
            own.map(({ seconds }) => seconds),
            2,
          ),
          whole(sum(own, ({ differences }) => differences)),
          whole(sum(own, ({ openFindings }) => openFindings)),
        ]),
  }),
  alerts: section('alerts', {
    title: 'Alerts',
    text: 'A shop trades under random faults, and the alerts are compared with the history of the service: *missing* alerts were never raised although their condition holds, *false* ones have none, and *doubled* ones were opened or sent twice. The bound is what the true rate is below with 95 % confidence.',
    columns: ['per 10,000 orders', 'value', 'counted', 'orders', 'alerts raised', 'bound'],
    linesOf: (records) => {
      const orders = sum(records, (record) => record.orders);
      const raised = whole(sum(records, (record) => record.raised));
      return (['missing', 'false', 'doubled'] as const).map((name) => {
        const counted = sum(records, (record) => record[name]);
        return [
          `${name} alerts`,
          decimal((counted / orders) * 10_000, 1),
          whole(counted),
          whole(orders),
          raised,
          bound(counted, orders, 10_000),
        ];
      });
    },
  }),
  captures: section('captures', {
    title: 'Double captures',
    text: 'The policy of authorizations captures holds before they expire, by three processes at once, while the response is lost or wrong, or the process ends. *Double* is a hold that was captured again after a capture took effect, or of which more was captured than was held. The bound is what the true rate per 10,000 holds is below with 95 % confidence.',
    columns: ['fault', 'holds', 'captured', 'requests', 'double captures', 'bound'],
    linesOf: (records) => {
      const all = {
        fault: '**all**',
        holds: sum(records, ({ holds }) => holds),
        captured: sum(records, ({ captured }) => captured),
        requests: sum(records, ({ requests }) => requests),
        doubled: sum(records, ({ doubled }) => doubled),
      };
      return [...records, all].map(({ fault, holds, captured, requests, doubled }) => [
        fault,
        whole(holds),
        whole(captured),
        whole(requests),
        whole(doubled),
        bound(doubled, holds, 10_000),
      ]);
    },
  }),
  bytes: section('bytes', {
    title: 'Disk',
    text: 'A ledger is filled with rows as Tallyhook writes them: order webhooks delivered, all indexes counted. They are of the day before the run: bodies since midnight UTC are not packed yet (`webhook_bodies`), so the later the hour, the larger the sum. [Sizing](sizing.md) has what retention leaves of it.',
    columns: ['bytes per event', 'value', 'events', 'bytes of a body'],
    linesOf: (records) =>
      records.flatMap(({ events, bodyBytes, bytesPerEvent, tables }) =>
        [['all tables', bytesPerEvent] as const, ...Object.entries(tables)].map(([name, value]) => [
          name === 'all tables' ? name : `\`${name}\``,
          whole(value),
          whole(events),
          whole(bodyBytes),
        ]),
      ),
  }),
  intake: section('intake', {
    title: 'Speed: intake alone',
    text: 'The receiver stores each event before it replies. It is compared with a bare Express route that verifies and stores nothing, in alternating pairs on the same machine: read the ratio, not the rate.',
    columns: [
      'figure',
      'median (range)',
      'pairs',
      'acknowledged events',
      'lost',
      'cores used by other programs',
    ],
    linesOf: (records) =>
      records.flatMap(({ pairs, acknowledged, lost }) => {
        const line = (name: string, values: readonly number[], digits: number) => [
          name,
          spread(values, digits),
          whole(pairs.length),
          whole(acknowledged),
          whole(lost),
          spread(
            pairs.flatMap(({ otherCores }) => otherCores ?? []),
            2,
          ),
        ];
        return [
          line(
            'accepted, as a share of the bare route',
            pairs.map(({ acceptedPerSecond, barePerSecond }) => acceptedPerSecond / barePerSecond),
            2,
          ),
          line(
            'accepted per second',
            pairs.map(({ acceptedPerSecond }) => acceptedPerSecond),
            0,
          ),
          line(
            'bare route per second',
            pairs.map(({ barePerSecond }) => barePerSecond),
            0,
          ),
          line(
            'reply, p50 in ms',
            pairs.map(({ reply }) => reply.p50Ms),
            1,
          ),
          line(
            'reply, p99 in ms',
            pairs.map(({ reply }) => reply.p99Ms),
            1,
          ),
        ];
      }),
  }),
  end_to_end: section('end_to_end', {
    title: 'Speed: end to end',
    text: 'Receiver, events worker, scheduler, database and the load itself share the machine, and events arrive as fast as they are accepted.',
    columns: [
      'figure',
      'median (range)',
      'runs',
      'acknowledged events',
      'lost',
      'cores used by other programs',
    ],
    linesOf: (records) => {
      const line = (
        name: string,
        of: (record: RecordOf<'end_to_end'>) => number,
        digits: number,
      ) => [
        name,
        spread(records.map(of), digits),
        whole(records.length),
        whole(sum(records, ({ acknowledged }) => acknowledged)),
        whole(sum(records, ({ lost }) => lost)),
        spread(
          records.flatMap(({ otherCores }) => otherCores ?? []),
          2,
        ),
      ];
      return [
        line('accepted, as a share of the bare route', ({ acceptedOfBare }) => acceptedOfBare, 2),
        line('applied, as a share of accepted', ({ appliedOfAccepted }) => appliedOfAccepted, 2),
        line('accepted per second', ({ acceptedPerSecond }) => acceptedPerSecond, 0),
        line('applied per second', ({ appliedPerSecond }) => appliedPerSecond, 0),
        line('bare route per second', ({ barePerSecond }) => barePerSecond, 0),
      ];
    },
  }),
  steady: section('steady', {
    title: 'Speed: delays under a steady load',
    text: 'The load is fixed and far below what the machine takes, so that a delay is not that of a queue. Each cell is p50 and p99 in milliseconds.',
    columns: [
      'events per second',
      'seconds',
      'reply',
      'from reply to applied',
      'from receipt to order webhook',
      'acknowledged events',
      'lost',
      'cores used by other programs',
    ],
    linesOf: (records) =>
      records.map((record) => [
        whole(record.ratePerSecond),
        whole(record.seconds),
        times(record.reply),
        times(record.applied),
        record.orderWebhooks ? times(record.orderWebhooks) : NONE,
        whole(record.acknowledged),
        whole(record.lost),
        record.otherCores === undefined ? NONE : decimal(record.otherCores, 2),
      ]),
  }),
};

const NONE = '–';

interface OwnSection<Kind extends RecordKind> extends Omit<Section, 'linesOf'> {
  readonly linesOf: (records: readonly RecordOf<Kind>[]) => readonly (readonly string[])[];
}

/** A section that gets the records of its kind only. */
function section<Kind extends RecordKind>(kind: Kind, own: OwnSection<Kind>): Section {
  const isOwn = (record: FigureRecord): record is RecordOf<Kind> => record.kind === kind;
  return { ...own, linesOf: (records) => own.linesOf(records.filter(isOwn)) };
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function decimal(value: number, digits: number): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The median, and the least and the greatest of several values. */
function spread(values: readonly number[], digits: number): string {
  const ascending = values.toSorted((one, other) => one - other);
  const [least, greatest] = [ascending[0], ascending.at(-1)];
  if (least === undefined || greatest === undefined) return NONE;
  const text = decimal(median(ascending), digits);
  if (ascending.length === 1) return text;
  return `${text} (${decimal(least, digits)} to ${decimal(greatest, digits)})`;
}

function median(ascending: readonly number[]): number {
  const middle = Math.floor(ascending.length / 2);
  const upper = ascending[middle] ?? 0;
  return ascending.length % 2 === 1 ? upper : ((ascending[middle - 1] ?? upper) + upper) / 2;
}

function times({ p50Ms, p99Ms }: { readonly p50Ms: number; readonly p99Ms: number }): string {
  return `${decimal(p50Ms, 1)}, ${decimal(p99Ms, 1)}`;
}

/** None in n trials bounds the rate by 3 / n with 95 % confidence, the rule of three. */
const RULE_OF_THREE = 3;

/** The bound of a rate of which nothing was counted; otherwise the rate itself shows enough. */
function bound(counted: number, trials: number, per: number): string {
  // With so few trials the rule bounds nothing.
  if (counted > 0 || trials <= RULE_OF_THREE) return NONE;
  return `< ${decimal((RULE_OF_THREE / trials) * per, 1)}`;
}

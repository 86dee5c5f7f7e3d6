/** The sums behind analytics, in memory. */
import { sumMinor } from '../../../contract/index.ts';
import { groupBy } from '../../../platform/collections.ts';
import type { StatusSum } from '../../domain/analytics.ts';
import type { SumQuery } from '../analytics.ts';
import type { ResourceRow, Tables } from './tables.ts';
import { hasAllowed, sortedBy, textOf } from './values.ts';

export function sumResources({ resources }: Tables, query: SumQuery): readonly StatusSum[] {
  const { kind, from, to, filters, limit } = query;
  const fromMs = Date.parse(from);
  const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const selected = [...resources.find('kind', kind)].filter(
    ({ resource, createdMs }) =>
      createdMs >= fromMs && createdMs < toMs && hasAllowed(resource.state, filters),
  );
  const groups = groupBy(selected, (row) => JSON.stringify(groupOf(row, query)));
  const sums = [...groups.values()].flatMap((rows) =>
    rows[0] ? [sumOf(rows, rows[0], query)] : [],
  );
  return sortedBy(sums, ({ bucket, groups: values, status }) => [
    bucket?.getTime() ?? null,
    ...values,
    status,
  ]).slice(0, limit);
}

/** @param first any of the rows: they are of one group */
function sumOf(rows: readonly ResourceRow[], first: ResourceRow, query: SumQuery): StatusSum {
  const { bucketMs, ...group } = groupOf(first, query);
  const sum = (name: string): number =>
    sumMinor(rows.map(({ resource }) => Number(textOf(resource.state, name) ?? 0)));
  return {
    ...group,
    bucket: bucketMs === null ? null : new Date(bucketMs),
    count: rows.length,
    amount: sum('amount'),
    received: sum('amount_received'),
  };
}

interface Group {
  readonly bucketMs: number | null;
  readonly groups: readonly (string | null)[];
  readonly status: string;
}

function groupOf({ resource, fields, createdMs }: ResourceRow, query: SumQuery): Group {
  const stepMs = query.stepSeconds && query.stepSeconds * 1000;
  return {
    bucketMs: stepMs === undefined ? null : Math.floor(createdMs / stepMs) * stepMs,
    groups: query.groups.map((name) => textOf(resource.state, name)),
    status: fields.status,
  };
}

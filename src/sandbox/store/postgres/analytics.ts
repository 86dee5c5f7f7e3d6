/** Sums behind analytics. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { StatusSum } from '../../domain/analytics.ts';
import type { SumQuery } from '../analytics.ts';

/** Counts and sums in minor units, by span, group and status, in that order; at most `limit`. */
export function sumResources(db: Queryable, query: SumQuery): Promise<StatusSum[]> {
  return db.query(
    `select bucket, groups, status, count(*) as count,
            sum(amount)::bigint as amount, sum(received)::bigint as received
       from (
         select date_bin(make_interval(secs => $4), created_at, to_timestamp(0)) as bucket,
                array(select state->>field.name
                        from unnest($5::text[]) with ordinality as field (name, place)
                       order by place) as groups,
                status, (state->>'amount')::bigint as amount,
                coalesce((state->>'amount_received')::bigint, 0) as received
           from sandbox.resources
          where kind = $1 and created_at >= $2
            and ($3::timestamptz is null or created_at < $3)
            and not exists (
                  select 1 from jsonb_each($6) as filter (name, allowed)
                   where not allowed ? coalesce(state->>filter.name, ''))
       ) as selected
      group by bucket, groups, status
      order by bucket, groups, status
      limit $7`,
    [
      query.kind,
      query.from,
      query.to ?? null,
      query.stepSeconds ?? null,
      query.groups,
      JSON.stringify(query.filters),
      query.limit,
    ],
  );
}

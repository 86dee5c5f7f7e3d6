/** Statements that show which spans of creation times were compared with the service. */
import type { StreamCoverage } from '../../ledger/domain/statement.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { STREAMS } from '../streams.ts';

const RUNS = 100_000;

/**
 * The coverage of a period by runs of each list, with what they found; without dry runs.
 * @param period the beginning and the end
 */
export function readCoverage(
  db: Queryable,
  period: { readonly from: Date; readonly to: Date },
): Promise<readonly StreamCoverage[]> {
  return db.query<StreamCoverage>(
    `with compared as (
       select stream, from_at, position_at, updated_at, found, repaired
         from reconcile_runs
        where not is_dry_run and position_at > from_at and from_at < $2 and position_at > $1
        order by id desc limit $4
     ), covered as (
       select names.stream, count(c.stream)::int as runs, max(c.updated_at) as last,
              coalesce(sum(c.found), 0)::bigint as found,
              coalesce(sum(c.repaired), 0)::bigint as repaired,
              tstzmultirange(tstzrange($1, $2))
                - coalesce(range_agg(tstzrange(c.from_at, c.position_at))
                             filter (where c.stream is not null), '{}') as missing
         from unnest($3::text[]) as names (stream)
         left join compared c on c.stream = names.stream
        group by names.stream
     )
     select stream, runs, (extract(epoch from last) * 1000000)::bigint as "lastComparedMicros",
            found, repaired,
            coalesce((select json_agg(json_build_object(
                        'fromMicros', (extract(epoch from lower(gap)) * 1000000)::bigint,
                        'toMicros', (extract(epoch from upper(gap)) * 1000000)::bigint)
                        order by lower(gap))
                        from unnest(missing) gap), '[]') as gaps
       from covered
      order by stream`,
    [period.from, period.to, STREAMS, RUNS],
  );
}

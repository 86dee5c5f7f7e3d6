/**
 * Statements that read ids close to one that does not exist: those of a list of spellings, and the next ones
 * in the order of an index, which begin alike. Each reaches its rows by an index, and few of them.
 */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';

export interface Near {
  readonly id: string;
  readonly spellings: readonly string[];
}

interface IdRow {
  readonly id: string;
}

/** Of each spelling there is at most one row; so many of them are read. */
const SPELLED = 10;
/** Ids before and after, in the order of the index. */
const NEIGHBORS = 5;

export function readNearOrders(db: Queryable, near: Near): Promise<readonly IdRow[]> {
  return db.query<IdRow>(
    `select substr(order_key, 7) as id
       from (
         (select order_key from orders where order_key = any ($2) limit ${SPELLED})
         union all
         (select order_key from orders where order_key > $1 order by order_key limit ${NEIGHBORS})
         union all
         (select order_key from orders where order_key < $1 order by order_key desc limit ${NEIGHBORS})
       ) as near
      where order_key like 'order:%'`,
    [`order:${near.id}`, near.spellings.map((spelling) => `order:${spelling}`)],
  );
}

export function readNearResources(
  db: Queryable,
  kind: ResourceKind,
  { id, spellings }: Near,
): Promise<readonly IdRow[]> {
  return db.query<IdRow>(
    `(select id from resources where kind = $1 and id = any ($3) limit ${SPELLED})
     union all
     (select id from resources where kind = $1 and id > $2 order by id limit ${NEIGHBORS})
     union all
     (select id from resources where kind = $1 and id < $2 order by id desc limit ${NEIGHBORS})`,
    [kind, id, spellings],
  );
}

export function readNearEvents(db: Queryable, { id, spellings }: Near): Promise<readonly IdRow[]> {
  return db.query<IdRow>(
    `(select event_id as id from webhook_events where event_id = any ($2) limit ${SPELLED})
     union all
     (select event_id as id from webhook_events
       where event_id > $1 order by event_id limit ${NEIGHBORS})
     union all
     (select event_id as id from webhook_events
       where event_id < $1 order by event_id desc limit ${NEIGHBORS})`,
    [id, spellings],
  );
}

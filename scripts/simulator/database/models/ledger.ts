/** Models of the statements on resources, orders, snapshots, the journal and checks. */

import { parseInstantMicros } from '../../../../src/ledger/domain/time.ts';
import {
  claimDue,
  hasChecksUntil,
  linkFinding,
  postponeCheck,
  readChecked,
  releaseDue,
  writeChecked,
  writeNextChecks,
} from '../../../../src/ledger/store/checks.ts';
import { insertTransfers, readMovements } from '../../../../src/ledger/store/journal.ts';
import {
  deleteStaleTotals,
  insertOrders,
  lockOrders,
  updateOrders,
  upsertTotals,
} from '../../../../src/ledger/store/orders.ts';
import {
  insertResources,
  lockResources,
  markBehind,
  markCheckDue,
  moveChildren,
  readParts,
  readPlacements,
  updateResources,
} from '../../../../src/ledger/store/resources.ts';
import {
  insertEpoch,
  insertSnapshots,
  readEpochs,
  readSnapshots,
} from '../../../../src/ledger/store/snapshots.ts';
import { SQLSTATES } from '../../../../src/platform/db/sqlStates.ts';
import { type Execution, SqlError } from '../rows.ts';
import { type Input, modeled } from '../statements.ts';
import type { ResourceRow, ResourceState, Tables, TotalRow, TransferRow } from '../tables.ts';
import {
  byNumber,
  byText,
  json,
  MINUTE_MS,
  names,
  requiredMs,
  texts,
  toDate,
  toMs,
} from './values.ts';

const EPOCH = new Date(0);
const REF = { kind: 'payment', id: '' } as const;
const FIRST_CHECK_MS = 2 * MINUTE_MS;

const refKey = ({ kind, id }: { readonly kind: string; readonly id: string }) => `${kind} ${id}`;
const keysOf = (input: Input) =>
  new Set(input.map(({ kind, id }) => refKey({ kind: String(kind), id: String(id) })));
const isRef = (kind: unknown, id: unknown) => (row: ResourceState) =>
  row.kind === kind && row.id === id;

function placementOf({ kind, id, payment_id, order_key }: ResourceState) {
  return { kind, id, paymentId: payment_id, orderKey: order_key };
}

function stateOf(row: Readonly<Record<string, unknown>>): ResourceState {
  const given = row as unknown as ResourceState &
    Record<'created_at' | 'deadline_at' | 'term_since', unknown>;
  const { contradiction } = row;
  return {
    kind: given.kind,
    id: given.id,
    payment_id: given.payment_id,
    order_key: given.order_key,
    status: given.status,
    stage: given.stage,
    currency: given.currency,
    amount_minor: given.amount_minor,
    net_amount_minor: given.net_amount_minor,
    authorized_minor: given.authorized_minor,
    captured_minor: given.captured_minor,
    capture_method: given.capture_method,
    reference: given.reference,
    created_at: toMs(given.created_at),
    deadline_at: toMs(given.deadline_at),
    term_since: toMs(given.term_since),
    epoch: given.epoch,
    version_micros: given.version_micros,
    head_hash: given.head_hash,
    posts: given.posts,
    uncertainties: names(row.uncertainties),
    contradiction: contradiction === null ? null : json(contradiction),
    open_findings: names(row.open_findings),
    is_check_wanted: given.is_check_wanted,
    posted: json(row.posted),
  };
}

function nextCheck(
  now: number,
  row: Readonly<Record<string, unknown>>,
  before: Pick<ResourceRow, 'next_check_at' | 'head_hash'> | undefined,
): number | null {
  if (row.is_check_wanted) return now;
  const plannedAt = before?.next_check_at ?? null;
  if (!row.is_unsettled) return plannedAt;
  const firstAt = now + FIRST_CHECK_MS;
  const isChanged = before?.head_hash !== row.head_hash;
  return isChanged ? Math.min(plannedAt ?? firstAt, firstAt) : (plannedAt ?? firstAt);
}

const RESOURCES = [
  modeled(readPlacements, [[]], '42fae7dd', (x, t, _, input) => {
    const keys = keysOf(input());
    return x.rows(t.resources, (row) => keys.has(refKey(row))).map(placementOf);
  }),
  modeled(lockResources, [[]], 'ac82d5bc', function* (x, t, _, input) {
    const keys = keysOf(input());
    const rows = yield* x.lock(t.resources, (row) => keys.has(refKey(row)), {
      orderBy: byText(
        ({ kind }) => kind,
        ({ id }) => id,
      ),
    });
    return rows.map((row) => ({
      ...placementOf(row),
      status: row.status,
      stage: row.stage,
      deadlineAt: toDate(row.deadline_at),
      currency: row.currency,
      epoch: row.epoch,
      contradiction: row.contradiction,
      openFindings: row.open_findings,
      posted: row.posted,
    }));
  }),
  modeled(insertResources, [[]], '5d68196c', function* (x, t, _, input) {
    const rows = [...input()].sort(
      byText(
        ({ kind }) => String(kind),
        ({ id }) => String(id),
      ),
    );
    const inserted: object[] = [];
    for (const row of rows) {
      const resource: ResourceRow = {
        ...stateOf(row),
        next_check_at: nextCheck(x.nowMs, row, undefined),
        webhook_applied_at: row.is_reported ? x.nowMs : null,
        retrieved_at: null,
        behind_since: null,
        behind_micros: null,
        first_seen_at: x.nowMs,
      };
      const one = yield* x.insert(t.resources, resource, 'nothing');
      if (one) inserted.push({ kind: one.kind, id: one.id });
    }
    return inserted;
  }),
  modeled(updateResources, [[]], '8a2aa2ca', function* (x, t, _, input) {
    for (const row of input()) {
      yield* x.update(t.resources, isRef(row.kind, row.id), (before) => ({
        ...before,
        ...stateOf(row),
        is_check_wanted: Boolean(row.is_check_wanted) || before.is_check_wanted,
        next_check_at: nextCheck(x.nowMs, row, before),
        webhook_applied_at: row.is_reported ? x.nowMs : before.webhook_applied_at,
      }));
    }
    return [];
  }),
  modeled(markCheckDue, [[]], 'cbf37598', function* (x, t, _, input) {
    const keys = keysOf(input());
    yield* x.update(
      t.resources,
      (row) => keys.has(refKey(row)),
      (row) => ({ ...row, is_check_wanted: true, next_check_at: x.nowMs }),
    );
    return [];
  }),
  modeled(markBehind, [[]], '0d768615', function* (x, t, _, input) {
    for (const { kind, id, version_micros: version } of input()) {
      yield* x.update(t.resources, isRef(kind, id), (row) => ({
        ...row,
        is_check_wanted: true,
        next_check_at: x.nowMs,
        behind_since: x.nowMs,
        behind_micros: greatest(row.behind_micros, version),
      }));
    }
    return [];
  }),
  modeled(moveChildren, [[]], '197be2eb', function* (x, t, [ids]) {
    const parents = new Map(
      x
        .rows(t.resources, ({ kind, id }) => kind === 'payment' && texts(ids).includes(id))
        .map(({ id, order_key }) => [id, order_key]),
    );
    const target = ({ payment_id }: ResourceRow) => parents.get(payment_id ?? '');
    yield* x.update(
      t.resources,
      (row) =>
        row.payment_id !== null && parents.has(row.payment_id) && row.order_key !== target(row),
      (row) => ({ ...row, order_key: target(row) ?? null }),
    );
    return [];
  }),
  modeled(readParts, [[]], '6fe45959', (x, t, [keys]) => {
    const wanted = new Set(texts(keys));
    return x
      .rows(t.resources, ({ order_key }) => order_key !== null && wanted.has(order_key))
      .map((row) => ({
        ...placementOf(row),
        status: row.status,
        stage: row.stage,
        currency: row.currency,
        amountMinor: row.amount_minor,
        authorizedMinor: row.authorized_minor,
        capturedMinor: row.captured_minor,
      }));
  }),
];

const hasKey = (keys: unknown) => {
  const wanted = new Set(texts(keys));
  return ({ order_key }: { readonly order_key: string }) => wanted.has(order_key);
};

const ORDERS = [
  modeled(lockOrders, [[]], '0d787c86', function* (x, t, [keys]) {
    const rows = yield* x.lock(t.orders, hasKey(keys), { orderBy: byText((row) => row.order_key) });
    return rows.map(({ order_key, status, open_findings }) => ({
      orderKey: order_key,
      status,
      openFindings: open_findings,
    }));
  }),
  modeled(insertOrders, [[]], 'a07ec4be', function* (x, t, _, input) {
    const inserted: object[] = [];
    for (const row of [...input()].sort(byText(({ order_key }) => String(order_key)))) {
      const order = {
        order_key: String(row.order_key),
        order_id: String(row.order_id),
        status: String(row.status),
        moved_to: [],
        open_findings: names(row.open_findings),
      };
      const one = yield* x.insert(t.orders, order, 'nothing');
      if (one) inserted.push({ orderKey: one.order_key });
    }
    return inserted;
  }),
  modeled(updateOrders, [[]], '603830f3', function* (x, t, _, input) {
    for (const row of input()) {
      const moved = JSON.parse(String(row.moved_to)) as readonly string[];
      yield* x.update(
        t.orders,
        ({ order_key }) => order_key === row.order_key,
        (before) => ({
          ...before,
          status: String(row.status),
          open_findings: names(row.open_findings),
          moved_to: [
            ...before.moved_to,
            ...moved.filter((went) => !before.moved_to.includes(went)),
          ],
        }),
      );
    }
    return [];
  }),
  modeled(upsertTotals, [[]], 'b621d941', function* (x, t, _, input) {
    for (const row of input() as unknown as readonly TotalInput[]) {
      const total: TotalRow = {
        order_key: row.order_key,
        currency: row.currency,
        status: row.status,
        authorized_minor: row.authorized,
        captured_minor: row.captured,
        refunded_minor: row.refunded,
        refund_pending_minor: row.pending,
        disputed_minor: row.disputed,
        charged_back_minor: row.lost,
      };
      yield* x.insert(t.order_totals, total, () => total);
    }
    return [];
  }),
  modeled(deleteStaleTotals, [[]], 'f12302f5', function* (x, t, [keys, ...kept]) {
    const [keptKeys, keptCurrencies] = kept.map(texts);
    const isKept = ({ order_key, currency }: TotalRow) =>
      (keptKeys ?? []).some(
        (key, place) => key === order_key && keptCurrencies?.[place] === currency,
      );
    const isNamed = hasKey(keys);
    yield* x.remove(t.order_totals, (row) => isNamed(row) && !isKept(row));
    return [];
  }),
];

interface TotalInput {
  readonly order_key: string;
  readonly currency: string;
  readonly status: string;
  readonly authorized: number;
  readonly captured: number;
  readonly refunded: number;
  readonly pending: number;
  readonly disputed: number;
  readonly lost: number;
}

const NEW_EPOCH = { ref: REF, epoch: 1, floorMicros: 0 };

const HISTORY = [
  modeled(readSnapshots, [[]], '4b23b53c', (x, t, _, input) => {
    const keys = keysOf(input());
    return x
      .rows(t.snapshots, ({ kind, resource_id: id }) => keys.has(refKey({ kind, id })))
      .map((row) => ({
        kind: row.kind,
        id: row.resource_id,
        epoch: row.epoch,
        content: row.content,
        contentHash: row.content_hash,
        source: row.source,
        observedMicros: row.observed_micros,
      }));
  }),
  modeled(insertSnapshots, [[]], '39a43fab', function* (x, t, _, input) {
    for (const row of input()) {
      yield* x.insert(t.snapshots, {
        kind: String(row.kind),
        resource_id: String(row.id),
        epoch: Number(row.epoch),
        content_hash: String(row.hash),
        content: json(row.content),
        source: String(row.source),
        observed_micros: Number(row.observed),
        webhook_event_id: row.event as number | null,
      });
    }
    return [];
  }),
  modeled(readEpochs, [[]], '2d7495a0', (x, t, _, input) => {
    const keys = keysOf(input());
    return x
      .rows(t.resource_epochs, ({ kind, resource_id: id }) => keys.has(refKey({ kind, id })))
      .map(({ kind, resource_id, epoch, floor_micros }) => ({
        kind,
        id: resource_id,
        epoch,
        floorMicros: floor_micros,
      }));
  }),
  modeled(insertEpoch, [NEW_EPOCH], '4b5bd7a6', function* (x, t, [kind, id, epoch, floor]) {
    yield* x.insert(t.resource_epochs, {
      kind: String(kind),
      resource_id: String(id),
      epoch: Number(epoch),
      floor_micros: Number(floor),
    });
    return [];
  }),
];

const isLeg =
  (a: Pick<TransferRow, 'kind' | 'resource_id' | 'leg' | 'currency'>) => (b: TransferRow) =>
    a.kind === b.kind &&
    a.resource_id === b.resource_id &&
    a.leg === b.leg &&
    a.currency === b.currency;

/** As the trigger check_transfers. */
function refuseBrokenLeg(x: Execution, t: Tables, row: TransferRow): void {
  const { leg_seq, previous_minor, leg, kind, resource_id } = row;
  const isContinued =
    leg_seq === 1
      ? x.rows(t.resources, isRef(kind, resource_id)).length > 0
      : x
          .rows(t.transfers, isLeg(row))
          .some((one) => one.leg_seq === leg_seq - 1 && one.cumulative_minor === previous_minor);
  if (isContinued) return;
  const message = `the chain of leg ${leg} of ${kind} ${resource_id} is broken at number ${leg_seq}`;
  throw new SqlError(SQLSTATES.check_violation, message);
}

const JOURNAL = [
  modeled(insertTransfers, [[]], '9df5e56e', function* (x, t, _, input) {
    const inserted: TransferRow[] = [];
    for (const row of input()) {
      const transfer = yield* x.insert(t.transfers, {
        id: x.nextSerial(t.transfers),
        kind: String(row.kind),
        resource_id: String(row.id),
        leg: String(row.leg),
        currency: String(row.currency),
        leg_seq: Number(row.seq),
        debit: String(row.debit),
        credit: String(row.credit),
        amount_minor: Number(row.amount),
        previous_minor: Number(row.previous),
        cumulative_minor: Number(row.cumulative),
        head_hash: String(row.head),
        webhook_event_id: row.event as number | null,
        effective_micros: parseInstantMicros(row.effective) ?? Number.NaN,
        effective_source: String(row.source),
      });
      if (transfer) inserted.push(transfer);
    }
    for (const row of inserted) refuseBrokenLeg(x, t, row);
    return [];
  }),
  modeled(readMovements, [[]], '350a9fe1', (x, t, _, input) => {
    const keys = keysOf(input());
    const moved = new Map<string, { first: TransferRow; sum: number }>();
    for (const row of x.rows(t.transfers)) {
      if (!keys.has(refKey({ kind: row.kind, id: row.resource_id }))) continue;
      const key = JSON.stringify([
        row.kind,
        row.resource_id,
        row.leg,
        row.currency,
        row.effective_micros,
      ]);
      const group = moved.get(key) ?? { first: row, sum: 0 };
      group.sum += row.cumulative_minor - row.previous_minor;
      moved.set(key, group);
    }
    return [...moved.values()].map(({ first, sum }) => ({
      kind: first.kind,
      id: first.resource_id,
      leg: first.leg,
      currency: first.currency,
      moved: String(sum),
      effectiveMicros: first.effective_micros,
    }));
  }),
];

function excessForMs(x: Execution, t: Tables, row: ResourceRow, classes: unknown): number | null {
  const open = x.rows(
    t.findings,
    (one) =>
      one.state === 'open' &&
      one.subject === `order:${row.order_key}` &&
      texts(classes).includes(one.class),
  );
  if (open.length === 0) return null;
  return x.statementMs - Math.max(...open.map(({ updated_at }) => updated_at));
}

/** As in PostgreSQL, null counts for nothing. */
function greatest(one: number | null, other: unknown): number | null {
  if (other === null) return one;
  return one === null ? Number(other) : Math.max(one, Number(other));
}

function checkedOf(x: Execution, t: Tables, row: ResourceRow, classes: unknown) {
  return {
    kind: row.kind,
    id: row.id,
    paymentId: row.payment_id,
    status: row.status,
    stage: row.stage,
    currency: row.currency,
    amountMinor: row.amount_minor,
    capturedMinor: row.captured_minor,
    versionMicros: row.version_micros,
    isContradicted: row.contradiction !== null,
    uncertainties: row.uncertainties,
    isUncertain: row.uncertainties.length > 0,
    firstSeenAt: new Date(row.first_seen_at),
    behindForMs: row.behind_since === null ? null : x.statementMs - row.behind_since,
    behindMicros: row.behind_micros,
    excessForMs: excessForMs(x, t, row, classes),
  };
}

const DUE = { isWanted: true, now: EPOCH, leaseUntil: EPOCH, limit: 1 };
const CHECKED = { nextCheckAt: null, isWanted: false, sentMsAgo: 0 };

const CHECKS = [
  modeled(readChecked, [REF], '933517da', (x, t, [kind, id, classes]) =>
    x.rows(t.resources, isRef(kind, id)).map((row) => checkedOf(x, t, row, classes)),
  ),
  modeled(
    writeChecked,
    [REF, CHECKED],
    'b9c45a2f',
    function* (x, t, [kind, id, nextAt, sentMsAgo, staysWanted]) {
      const sentAtMs = x.statementMs - Number(sentMsAgo);
      yield* x.update(t.resources, isRef(kind, id), (row) => {
        const dueMs = row.next_check_at ?? 0;
        const isWanted =
          row.is_check_wanted && dueMs > sentAtMs && dueMs <= x.statementMs && dueMs !== x.nowMs;
        const stays = isWanted || staysWanted === true;
        return {
          ...row,
          next_check_at: isWanted ? dueMs : toMs(nextAt),
          is_check_wanted: stays,
          behind_since: stays ? row.behind_since : null,
          behind_micros: stays ? row.behind_micros : null,
          retrieved_at: sentAtMs,
        };
      });
      return [];
    },
  ),
  modeled(linkFinding, [REF, 'orphan'], '7e6855ed', function* (x, t, [kind, id, name]) {
    const added = String(name);
    yield* x.update(t.resources, isRef(kind, id), (row) => ({
      ...row,
      open_findings: [...row.open_findings.filter((one) => one !== added), added],
    }));
    return [];
  }),
  modeled(
    claimDue,
    [DUE],
    '212ea099',
    function* (x, t, [now, isWanted, limit, leaseUntil, classes]) {
      const isDue = (row: ResourceRow) =>
        row.next_check_at !== null &&
        row.next_check_at <= requiredMs(now) &&
        row.is_check_wanted === isWanted;
      const locked = yield* x.lock(t.resources, isDue, {
        isSkipping: true,
        limit: Number(limit),
        orderBy: byNumber(({ next_check_at }) => next_check_at ?? 0),
      });
      const keys = new Set(locked.map(refKey));
      const claimed = yield* x.update(
        t.resources,
        (row) => keys.has(refKey(row)),
        (row) => ({ ...row, next_check_at: requiredMs(leaseUntil) }),
      );
      return claimed.map((row) => ({
        ...checkedOf(x, t, row, classes),
        isWanted: row.is_check_wanted,
      }));
    },
  ),
  modeled(writeNextChecks, [[]], '137551cc', function* (x, t, _, input) {
    for (const { kind, id, status, at } of input()) {
      const isJudged = (row: ResourceRow) =>
        isRef(kind, id)(row) &&
        row.status === status &&
        row.uncertainties.length === 0 &&
        row.contradiction === null &&
        !row.is_check_wanted;
      const [judged] = yield* x.lock(t.resources, isJudged, { isSkipping: true });
      if (!judged) continue;
      yield* x.update(t.resources, isRef(kind, id), (row) => ({ ...row, next_check_at: toMs(at) }));
    }
    return [];
  }),
  modeled(releaseDue, [[], DUE], 'dd6c4d7c', function* (x, t, [, , leaseUntil, now], input) {
    const keys = keysOf(input());
    const isClaimed = (row: ResourceRow) =>
      keys.has(refKey(row)) && row.next_check_at === requiredMs(leaseUntil);
    const claimed = new Set(
      (yield* x.lock(t.resources, isClaimed, { isSkipping: true })).map(refKey),
    );
    yield* x.update(
      t.resources,
      (row) => claimed.has(refKey(row)),
      (row) => ({ ...row, next_check_at: requiredMs(now) }),
    );
    return [];
  }),
  modeled(postponeCheck, [REF, EPOCH], '7cc24e3b', function* (x, t, [kind, id, at]) {
    yield* x.update(t.resources, isRef(kind, id), (row) => ({ ...row, next_check_at: toMs(at) }));
    return [];
  }),
  modeled(hasChecksUntil, [EPOCH, undefined], '91142232', (x, t, [at, kind]) => {
    const isDue = (row: ResourceRow) =>
      row.next_check_at !== null &&
      row.next_check_at <= requiredMs(at) &&
      (kind === null || row.kind === kind);
    return [{ isDue: x.rows(t.resources, isDue).length > 0 }];
  }),
];

export const LEDGER = [...RESOURCES, ...ORDERS, ...HISTORY, ...JOURNAL, ...CHECKS];

/**
 * The property that the ledger converges: valid lifecycles of all four kinds
 * (test/support/lifecycles.ts), delivered in any order, repeated and with losses, posted after every
 * delivery. A failure prints the seed and the path that repeat it: fc.assert(property, { seed, path }).
 *
 * Each of these mutations was tried by hand and makes the named tests fail (L1 to L3: those below in
 * their order; M, X, E: merge.test.ts, explain.test.ts, epochs.test.ts; D1, D2: the two of
 * test/ledger/lifecycles.test.ts; J: test/ledger/journal.test.ts):
 *
 * | mutation                                                    | fails         |
 * |-------------------------------------------------------------|---------------|
 * | key: rank before version                                    | L2 M X        |
 * | key: version before stage                                   | L2 M X        |
 * | key: epoch last, or left out                                | L3 X          |
 * | key: version left out, or undated above dated               | L2 M X        |
 * | key: captured amount before rank                            | L2 M          |
 * | tie: hash left out, so that arrival decides                 | L1 M X        |
 * | tie: captured amount left out                               | L2 M X        |
 * | duplicates kept as further snapshots                        | L1 L2 L3      |
 * | rank: processing and requires_capture exchanged             | L2            |
 * | rank: failed and succeeded exchanged (payment)              | L2 M          |
 * | rank: succeeded and failed exchanged (refund)               | L2            |
 * | rank: success above reversed (payout)                       | L2            |
 * | rank: opened and challenged exchanged (dispute)             | L2            |
 * | captured: the head's amount instead of the greatest one     | M E           |
 * | captured: the provisional amount competes with reported ones | L2            |
 * | captured: counted beside every status                       | L2 M          |
 * | legs: target posted instead of target minus posted          | L1 L2 L3 X    |
 * | legs: the rest of a hold is never released                  | L1 L2 L3      |
 * | legs: accounts not swapped when a leg shrinks               | L1 L2 L3      |
 * | legs: a dispute at pre_dispute moves money                  | L2            |
 * | epochs: one retrieve is enough, or none ever opens one      | L3 E          |
 * | 00003_journal.sql: trigger transfers_chain left out         | J (6 attacks) |
 * | 00003_journal.sql: number of a leg not unique               | J (4)         |
 * | 00003_journal.sql: trigger transfers_append_only left out   | J (1)         |
 * | posted totals are not passed on to the next transaction     | D1 J          |
 * | orders not locked                                           | D1            |
 * | resources not locked                                        | D2            |
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINAL_STATUSES } from '../../../src/contract/statuses.ts';
import {
  type DatedTransfer,
  type Movement,
  movementsOf,
  type PostedMovement,
  transfersFor,
} from '../../../src/ledger/domain/effectiveTimes.ts';
import { type Posted, postedAfter, targetsOf } from '../../../src/ledger/domain/legs.ts';
import { compareSnapshots, HELD, type ResourceState } from '../../../src/ledger/domain/merge.ts';
import { type Known, mergeObservations } from '../../../src/ledger/domain/mergeObservations.ts';
import {
  capturedOf,
  type Observation,
  readResource,
  type SnapshotContent,
  type SnapshotSource,
} from '../../../src/ledger/domain/snapshot.ts';
import { anyLifecycle, type Lifecycle, sumBalances, type Wire } from '../../support/lifecycles.ts';
import { observe, SECOND } from '../../support/observations.ts';

const SENT_MICROS = Date.UTC(2026, 10, 1) * 1000;
const RECEIVED_MICROS = Date.UTC(2026, 11, 1) * 1000;

interface Delivery {
  readonly body: Wire;
  readonly source: SnapshotSource;
  /** The time of a retrieve, in seconds after all events were sent. */
  readonly atSeconds?: number;
}

/** A body as the ledger reads it. */
function observationOf({ body, source, atSeconds = 0 }: Delivery): Observation {
  const reading = readResource(body, RECEIVED_MICROS);
  if (reading.outcome !== 'read')
    throw new Error(`a lifecycle has a body that is ${reading.outcome}`);
  // The time of an event is that of its step, regardless of its delivery.
  const observedMicros = source === 'webhook' ? SENT_MICROS : RECEIVED_MICROS + atSeconds * SECOND;
  return observe(reading.content, { ...reading.ref, source, observedMicros });
}

/** One resource and its journal, as the ledger keeps them. */
class Ledger {
  known: Known = { snapshots: [], epochs: [], contradiction: undefined };
  posted: Posted = {};
  state: ResourceState | undefined;
  readonly balances = new Map<string, bigint>();
  readonly movements: PostedMovement[] = [];
  private ascending: Parameters<typeof movementsOf>[0] = [];
  private readonly observations: Observation[] = [];

  deliver(delivery: Delivery): void {
    const one = observationOf(delivery);
    this.observations.push(one);
    const merged = mergeObservations(this.known, [one]);
    this.known = {
      snapshots: [...this.known.snapshots, ...merged.added],
      epochs: [...this.known.epochs, ...merged.openedEpochs],
      contradiction: merged.contradiction,
    };
    this.state = merged.state;
    if (!merged.state) throw new Error('a body of a lifecycle is a snapshot');
    const { state, order } = merged;
    const { posted, movements } = this;
    const transfers = transfersFor({ state, order, posted, movements });
    this.check(transfers);
    this.posted = postedAfter(this.posted, transfers);
    this.movements.push(...transfers.map(movementOf));
    this.checkPosted(state);
    this.ascending = order.ascending;
  }

  /** What all snapshots moved. */
  history(): readonly Movement[] {
    return movementsOf(this.ascending);
  }

  /** Invariants of every set of transfers, before it is written. */
  private check(transfers: readonly DatedTransfer[]): void {
    const ends = new Map<string, DatedTransfer>();
    for (const transfer of transfers) {
      const key = `${transfer.currency} ${transfer.leg}`;
      const last = ends.get(key) ?? this.posted[transfer.currency]?.[transfer.leg];
      ends.set(key, transfer);
      const { seq, previousMinor, amountMinor, cumulativeMinor } = transfer;
      hold(seq === (last?.seq ?? 0) + 1, 'numbers of a leg are consecutive', transfers);
      const isNext = previousMinor === (last?.cumulativeMinor ?? 0);
      hold(isNext, 'a row begins at the previous total', transfers);
      hold(amountMinor > 0, 'an amount is positive', transfer);
      hold(cumulativeMinor >= 0, 'no leg is negative', transfer);
      this.move(transfer.debit, transfer.currency, BigInt(transfer.amountMinor));
      this.move(transfer.credit, transfer.currency, -BigInt(transfer.amountMinor));
    }
  }

  private move(account: string, currency: string, amount: bigint): void {
    const name = `${account} ${currency}`;
    this.balances.set(name, (this.balances.get(name) ?? 0n) + amount);
  }

  /** Invariants of the ledger after every step. */
  private checkPosted(state: ResourceState): void {
    const sums = new Map<string, bigint>();
    for (const [name, amount] of this.balances) {
      const currency = name.slice(-3);
      sums.set(currency, (sums.get(currency) ?? 0n) + amount);
    }
    for (const sum of sums.values()) hold(sum === 0n, 'the journal sums to zero', sums);
    const hashes = new Set(this.observations.map(({ contentHash }) => contentHash));
    const mostKept = hashes.size * (1 + this.known.epochs.length);
    hold(this.known.snapshots.length <= mostKept, 'a duplicate is not kept', this.known.snapshots);
    if (!state.posts) return;
    const moved = this.movedBy(state.currency);
    const targets = Object.fromEntries(
      Object.entries(targetsOf(state)).filter(([, amount]) => amount !== 0),
    );
    const isPosted = isDeepStrictEqual(moved, targets);
    hold(isPosted, 'the posted amounts are those of the state', { moved, targets });
    if (state.ref.kind !== 'payment') return;
    if (FINAL_STATUSES.payment.has(state.status ?? '')) {
      const open = this.balances.get(`memo.auth_open ${state.currency}`) ?? 0n;
      hold(open === 0n, 'a final payment holds no open authorization', open);
    }
    // A failure ends the hold before it.
    const ascending = this.known.snapshots.toSorted(compareSnapshots);
    const failure = ascending.findLastIndex(({ content }) => content.status === 'failed');
    const isHoldKnown = ascending
      .slice(failure + 1)
      .some(
        ({ content }) =>
          HELD.has(content.status ?? '') && content.amountCapturableMinor !== undefined,
      );
    if (isHoldKnown && this.known.epochs.length === 0) {
      const isCovered = state.capturedMinor <= state.authorizedMinor;
      hold(isCovered, 'no more is captured than was held', state);
    }
  }

  private movedBy(currency: string | undefined): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Object.entries(this.posted[currency ?? ''] ?? {})
        .map(([leg, { cumulativeMinor }]) => [leg, cumulativeMinor] as const)
        .filter(([, amount]) => amount !== 0),
    );
  }

  openBalances(): Readonly<Record<string, bigint>> {
    return Object.fromEntries([...this.balances].filter(([, sum]) => sum !== 0n).sort());
  }
}

/** Of what is checked after each delivery; half a million times, `expect` takes longer than the ledger. */
function hold(isHeld: boolean, invariant: string, found: unknown): void {
  if (!isHeld) throw new Error(`${invariant}: ${inspect(found, { depth: 4 })}`);
}

function movementOf({ cumulativeMinor, previousMinor, ...rest }: DatedTransfer): PostedMovement {
  return { ...rest, movedMinor: BigInt(cumulativeMinor - previousMinor) };
}

/** What moved by leg, currency and effective time; sums of 0 are left out. */
function sumByTime(
  movements: readonly (Omit<PostedMovement, 'movedMinor'> & {
    readonly movedMinor: bigint | number;
  })[],
): Readonly<Record<string, bigint>> {
  const sums = new Map<string, bigint>();
  for (const { leg, currency, effectiveMicros, movedMinor } of movements) {
    const key = `${leg} ${currency} ${effectiveMicros}`;
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(movedMinor));
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).sort());
}

function run(deliveries: readonly Delivery[]): Ledger {
  const ledger = new Ledger();
  for (const delivery of deliveries) ledger.deliver(delivery);
  expect(sumByTime(ledger.movements), 'the journal has the history of the snapshots').toEqual(
    sumByTime(ledger.history()),
  );
  return ledger;
}

const anyLifecycleOfAnyKind = fc.oneof(
  { arbitrary: anyLifecycle('payment', { id: 'pay_1', orderId: 'ord_1' }), weight: 3 },
  { arbitrary: anyLifecycle('refund', { id: 'ref_1' }), weight: 1 },
  { arbitrary: anyLifecycle('dispute', { id: 'dp_1' }), weight: 1 },
  { arbitrary: anyLifecycle('payout', { id: 'po_1' }), weight: 1 },
);

function webhooks({ bodies }: Lifecycle): readonly Delivery[] {
  return bodies.map((body) => ({ body, source: 'webhook' }));
}

function shuffled(deliveries: readonly Delivery[]): fc.Arbitrary<readonly Delivery[]> {
  return fc.shuffledSubarray([...deliveries], { minLength: deliveries.length });
}

/** The final state of the service, with the fields that the ledger stores. */
function finalStateOf({ finalBody, captured }: Lifecycle): object {
  const status = String(finalBody.dispute_status ?? finalBody.status).replace(/^dispute_/, '');
  return {
    status,
    amountMinor: Number(finalBody.amount),
    currency: finalBody.currency,
    capturedMinor: captured,
    ...(finalBody.dispute_stage === undefined ? {} : { stage: finalBody.dispute_stage }),
  };
}

test('the same bodies in any order, with duplicates, end in the same state and balances', () => {
  fc.assert(
    fc.property(
      anyLifecycleOfAnyKind.chain((lifecycle) =>
        fc.tuple(
          fc.constant(lifecycle),
          shuffled([...webhooks(lifecycle), ...webhooks(lifecycle)]),
        ),
      ),
      ([lifecycle, deliveries]) => {
        const straight = run(webhooks(lifecycle));
        const mixed = run(deliveries);
        expect(mixed.state).toEqual(straight.state);
        expect(mixed.openBalances()).toEqual(straight.openBalances());
        expect(sumByTime(mixed.movements)).toEqual(sumByTime(straight.movements));
      },
    ),
    { numRuns: 600 },
  );
});

test('any subset of a lifecycle in any order, with repeats and one retrieve, ends in the final state', () => {
  fc.assert(
    fc.property(
      anyLifecycleOfAnyKind.chain((lifecycle) =>
        fc
          .subarray([...webhooks(lifecycle), ...webhooks(lifecycle)])
          .chain((received) =>
            fc.tuple(
              fc.constant(lifecycle),
              shuffled([...received, { body: lifecycle.finalBody, source: 'retrieve' }]),
            ),
          ),
      ),
      ([lifecycle, deliveries]) => {
        const { state, known, balances } = boundRun(deliveries);
        expect(state).toMatchObject({ ...finalStateOf(lifecycle), posts: true, illegalSteps: [] });
        expect(known.contradiction).toBeUndefined();
        expect(headOf(known, state)).toMatchObject({ status: state?.status });
        expect(capturedOf(headOf(known, state)) ?? state?.capturedMinor).toBe(state?.capturedMinor);
        expect(balances).toEqual(sumBalances([lifecycle]));
      },
    ),
    { numRuns: 1_200 },
  );
});

/** The content of the head. */
function headOf(known: Known, state: ResourceState | undefined): SnapshotContent {
  const head = known.snapshots.find(({ contentHash }) => contentHash === state?.headHash);
  if (!head) throw new Error('the head is one of the bodies');
  return head.content;
}

function boundRun(deliveries: readonly Delivery[]) {
  const ledger = run(deliveries);
  return { state: ledger.state, known: ledger.known, balances: ledger.openBalances() };
}

test('a payment that the service reverses ends in the state of two consistent retrieves', () => {
  fc.assert(
    fc.property(
      anyLifecycle('payment', { id: 'pay_1', amounts: [100, 6540] }).chain((lifecycle) =>
        fc.tuple(
          fc.constant(lifecycle),
          shuffled(webhooks(lifecycle)),
          shuffled(webhooks(lifecycle)),
          fc.boolean(),
        ),
      ),
      ([lifecycle, before, after, isDated]) => {
        const { modified_at: _date, ...rest } = lifecycle.finalBody;
        const failed = { ...rest, status: 'failed', amount_received: 0, amount_capturable: 0 };
        const body = isDated ? { ...failed, modified_at: '2026-11-25T00:00:00.000Z' } : failed;
        const { state, balances } = boundRun([
          ...before,
          { body, source: 'retrieve', atSeconds: 10 },
          { body, source: 'retrieve', atSeconds: 80 },
          ...after,
        ]);
        expect(state).toMatchObject({ status: 'failed', capturedMinor: 0, posts: true });
        expect(balances).toEqual({});
      },
    ),
    { numRuns: 300 },
  );
});

/** The lifecycle with the versions of servers that have different clocks: in any order, also equal ones. */
function skewed({ bodies, finalBody, ...rest }: Lifecycle): fc.Arbitrary<Lifecycle> {
  const count = bodies.length + 1;
  const late = fc.array(fc.nat({ max: 9 }), { minLength: count, maxLength: count });
  return late.map(([finalSeconds = 0, ...seconds]) => ({
    ...rest,
    bodies: bodies.map((body, at) => withVersion(body, seconds[at] ?? 0)),
    finalBody: withVersion(finalBody, finalSeconds),
  }));
}

function withVersion(body: Wire, seconds: number): Wire {
  if (body.modified_at === undefined) return body;
  const modifiedMs = (RECEIVED_MICROS + seconds * SECOND) / 1000;
  return { ...body, modified_at: new Date(modifiedMs).toISOString() };
}

/** Some webhooks, and earlier retrieves of any state: a replica may lag. */
function anyDeliveries({ bodies }: Lifecycle): fc.Arbitrary<readonly Delivery[]> {
  const delivery = fc.record({
    body: fc.constantFrom(...bodies),
    source: fc.constantFrom<SnapshotSource>('webhook', 'webhook', 'retrieve'),
    atSeconds: fc.nat({ max: 3_000 }),
  });
  return fc.array(delivery, { maxLength: 16 });
}

test('with versions in any order, two retrieves an hour later end in the final state', () => {
  fc.assert(
    fc.property(
      anyLifecycleOfAnyKind
        .chain(skewed)
        .chain((lifecycle) => fc.tuple(fc.constant(lifecycle), anyDeliveries(lifecycle))),
      ([lifecycle, deliveries]) => {
        const retrieve = { body: lifecycle.finalBody, source: 'retrieve' } as const;
        const { state, balances } = boundRun([
          ...deliveries,
          { ...retrieve, atSeconds: 3_700 },
          { ...retrieve, atSeconds: 3_760 },
        ]);
        expect(state).toMatchObject({ ...finalStateOf(lifecycle), posts: true });
        expect(balances).toEqual(sumBalances([lifecycle]));
      },
    ),
    { numRuns: 300 },
  );
});

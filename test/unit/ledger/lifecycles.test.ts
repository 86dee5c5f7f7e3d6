/**
 * The proof that the books end right: legal lives of all four kinds (test/support/lifecycles.ts),
 * delivered in any order, repeated and with losses, posted after every delivery. A failure prints
 * the seed and the path that repeat it: fc.assert(property, { seed, path }).
 *
 * Each of these mutations was tried by hand, and makes the tests named fail (L1 to L3: those below in
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
 * | captured: the head's amount instead of the greatest carried | M E           |
 * | captured: the provisional amount competes with carried ones | L2            |
 * | captured: counted beside every status                       | L2 M          |
 * | legs: target posted instead of target minus posted          | L1 L2 L3 X    |
 * | legs: the rest of a hold is never released                  | L1 L2 L3      |
 * | legs: accounts not swapped on the way down                  | L1 L2 L3      |
 * | legs: a dispute at pre_dispute moves money                  | L2            |
 * | epochs: one retrieve is enough, or none ever opens one      | L3 E          |
 * | 00003_journal.sql: trigger transfers_chain left out         | J (6 attacks) |
 * | 00003_journal.sql: number of a leg not unique               | J (4)         |
 * | 00003_journal.sql: trigger transfers_append_only left out   | J (1)         |
 * | what is posted is not carried on to the next transaction    | D1 J          |
 * | orders not locked                                           | D1            |
 * | resources not locked                                        | D2            |
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINAL_STATUSES } from '../../../src/contract/statuses.ts';
import {
  type Posted,
  postedAfter,
  type Transfer,
  targetsOf,
  transfersFor,
} from '../../../src/ledger/domain/legs.ts';
import { HELD, type ResourceState } from '../../../src/ledger/domain/merge.ts';
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

const TOLD_MICROS = Date.UTC(2026, 10, 1) * 1000;
const RECEIVED_MICROS = Date.UTC(2026, 11, 1) * 1000;

interface Delivery {
  readonly body: Wire;
  readonly source: SnapshotSource;
  /** Of a retrieve, when it was answered: seconds after everything was told. */
  readonly atSeconds?: number;
}

/** A body as the ledger reads it. */
function observationOf({ body, source, atSeconds = 0 }: Delivery): Observation {
  const reading = readResource(body, RECEIVED_MICROS);
  if (reading.outcome !== 'read') throw new Error(`a life holds a body that is ${reading.outcome}`);
  // An event's own time is that of its step, however late it is delivered.
  const observedMicros = source === 'webhook' ? TOLD_MICROS : RECEIVED_MICROS + atSeconds * SECOND;
  return observe(reading.content, { ...reading.ref, source, observedMicros });
}

/** One resource and its journal, as the ledger keeps them. */
class Ledger {
  known: Known = { snapshots: [], epochs: [], contradiction: undefined };
  posted: Posted = {};
  state: ResourceState | undefined;
  readonly balances = new Map<string, bigint>();
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
    if (!merged.state) throw new Error('a body of a life is a snapshot');
    const transfers = transfersFor(merged.state, this.posted);
    this.check(merged.state, transfers);
    this.posted = postedAfter(this.posted, transfers);
    this.checkPosted(merged.state);
  }

  /** What holds of every set of transfers, before it is written. */
  private check(state: ResourceState, transfers: readonly Transfer[]): void {
    if (!state.posts) expect(transfers, 'nothing is posted while too little is known').toEqual([]);
    for (const transfer of transfers) {
      const last = this.posted[transfer.currency]?.[transfer.leg];
      expect(transfer.seq, 'numbers of a leg follow each other').toBe((last?.seq ?? 0) + 1);
      expect(transfer.previousMinor, 'a row starts where the last one ended').toBe(
        last?.cumulativeMinor ?? 0,
      );
      expect(transfer.amountMinor, 'an amount is positive').toBeGreaterThan(0);
      expect(transfer.cumulativeMinor, 'no leg is negative').toBeGreaterThanOrEqual(0);
      this.move(transfer.debit, transfer.currency, BigInt(transfer.amountMinor));
      this.move(transfer.credit, transfer.currency, -BigInt(transfer.amountMinor));
    }
  }

  private move(account: string, currency: string, amount: bigint): void {
    const name = `${account} ${currency}`;
    this.balances.set(name, (this.balances.get(name) ?? 0n) + amount);
  }

  /** What holds of the books after every step. */
  private checkPosted(state: ResourceState): void {
    const sums = new Map<string, bigint>();
    for (const [name, amount] of this.balances) {
      const currency = name.slice(-3);
      sums.set(currency, (sums.get(currency) ?? 0n) + amount);
    }
    for (const sum of sums.values()) expect(sum, 'the journal sums to zero').toBe(0n);
    const hashes = new Set(this.observations.map(({ contentHash }) => contentHash));
    expect(this.known.snapshots.length, 'a duplicate is not kept').toBeLessThanOrEqual(
      hashes.size * (1 + this.known.epochs.length),
    );
    if (!state.posts) return;
    expect(this.movedBy(state.currency), 'what is posted is what the state says').toEqual(
      Object.fromEntries(Object.entries(targetsOf(state)).filter(([, amount]) => amount !== 0)),
    );
    if (state.ref.kind !== 'payment') return;
    if (FINAL_STATUSES.payment.has(state.status ?? '')) {
      const open = this.balances.get(`memo.auth_open ${state.currency}`) ?? 0n;
      expect(open, 'a final payment holds no open authorization').toBe(0n);
    }
    const heardOfHold = this.known.snapshots.some(
      ({ content }) =>
        HELD.has(content.status ?? '') && content.amountCapturableMinor !== undefined,
    );
    if (heardOfHold && this.known.epochs.length === 0) {
      expect(state.capturedMinor, 'no more is captured than was held').toBeLessThanOrEqual(
        state.authorizedMinor,
      );
    }
  }

  private movedBy(currency: string | undefined): Readonly<Record<string, number>> {
    return Object.fromEntries(
      Object.entries(this.posted[currency ?? ''] ?? {})
        .map(([leg, { cumulativeMinor }]) => [leg, cumulativeMinor] as const)
        .filter(([, amount]) => amount !== 0),
    );
  }

  books(): Readonly<Record<string, bigint>> {
    return Object.fromEntries([...this.balances].filter(([, sum]) => sum !== 0n).sort());
  }
}

function run(deliveries: readonly Delivery[]): Ledger {
  const ledger = new Ledger();
  for (const delivery of deliveries) ledger.deliver(delivery);
  return ledger;
}

const anyLives = fc.oneof(
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

/** The truth in the words of the service, as far as the ledger keeps them. */
function standingOf({ finalBody: truth, captured }: Lifecycle): object {
  const status = String(truth.dispute_status ?? truth.status).replace(/^dispute_/, '');
  return {
    status,
    amountMinor: Number(truth.amount),
    currency: truth.currency,
    capturedMinor: captured,
    ...(truth.dispute_stage === undefined ? {} : { stage: truth.dispute_stage }),
  };
}

test('every order of the same bodies, with duplicates, ends in the same state and the same books', () => {
  fc.assert(
    fc.property(
      anyLives.chain((life) =>
        fc.tuple(fc.constant(life), shuffled([...webhooks(life), ...webhooks(life)])),
      ),
      ([life, deliveries]) => {
        const straight = run(webhooks(life));
        const mixed = run(deliveries);
        expect(mixed.state).toEqual(straight.state);
        // While too little is known nothing is posted, and what earlier states posted stays.
        if (straight.state?.posts) expect(mixed.books()).toEqual(straight.books());
      },
    ),
    { numRuns: 600 },
  );
});

test('any part of a life, in any order, repeated, with one retrieve among it, ends at the truth', () => {
  fc.assert(
    fc.property(
      anyLives.chain((life) =>
        fc
          .subarray([...webhooks(life), ...webhooks(life)])
          .chain((heard) =>
            fc.tuple(
              fc.constant(life),
              shuffled([...heard, { body: life.finalBody, source: 'retrieve' }]),
            ),
          ),
      ),
      ([life, deliveries]) => {
        const { state, known, books } = boundRun(deliveries);
        expect(state).toMatchObject({ ...standingOf(life), posts: true, illegalSteps: [] });
        expect(known.contradiction).toBeUndefined();
        expect(headOf(known, state)).toMatchObject({ status: state?.status });
        expect(capturedOf(headOf(known, state)) ?? state?.capturedMinor).toBe(state?.capturedMinor);
        expect(books).toEqual(sumBalances([life]));
      },
    ),
    { numRuns: 1_200 },
  );
});

/** What the body says that counts. */
function headOf(known: Known, state: ResourceState | undefined): SnapshotContent {
  const head = known.snapshots.find(({ contentHash }) => contentHash === state?.headHash);
  if (!head) throw new Error('the head is one of the bodies');
  return head.content;
}

function boundRun(deliveries: readonly Delivery[]) {
  const ledger = run(deliveries);
  return { state: ledger.state, known: ledger.known, books: ledger.books() };
}

test('a payment that the service takes back ends at what two retrieves agree on', () => {
  fc.assert(
    fc.property(
      anyLifecycle('payment', { id: 'pay_1', amounts: [100, 6540] }).chain((life) =>
        fc.tuple(
          fc.constant(life),
          shuffled(webhooks(life)),
          shuffled(webhooks(life)),
          fc.boolean(),
        ),
      ),
      ([life, before, after, isDated]) => {
        const { modified_at: _date, ...rest } = life.finalBody;
        const failed = { ...rest, status: 'failed', amount_received: 0, amount_capturable: 0 };
        const body = isDated ? { ...failed, modified_at: '2026-11-25T00:00:00.000Z' } : failed;
        const { state, books } = boundRun([
          ...before,
          { body, source: 'retrieve', atSeconds: 10 },
          { body, source: 'retrieve', atSeconds: 80 },
          ...after,
        ]);
        expect(state).toMatchObject({ status: 'failed', capturedMinor: 0, posts: true });
        expect(books).toEqual({});
      },
    ),
    { numRuns: 300 },
  );
});

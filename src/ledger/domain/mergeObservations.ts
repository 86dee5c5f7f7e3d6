/**
 * Merges new observations of one resource with its stored snapshots. Pure: the caller reads the
 * snapshots under a lock and writes the result.
 */

import { orderSnapshots, type SnapshotOrder } from './effectiveTimes.ts';
import {
  type Contradiction,
  compareRetrieve,
  type Epoch,
  epochFor,
  placeInEpochs,
} from './epochs.ts';
import { foldSnapshots, type ResourceState } from './merge.ts';
import { isHintObservation, type Observation, type Snapshot } from './snapshot.ts';

/** What is stored about one resource. */
export interface Known {
  readonly snapshots: readonly Snapshot[];
  readonly epochs: readonly Epoch[];
  readonly contradiction: Contradiction | undefined;
}

export interface Merged {
  /** Undefined if there were only hints. */
  readonly state: ResourceState | undefined;
  /** All snapshots, in their epochs. */
  readonly order: SnapshotOrder;
  /** New snapshots, to be stored. */
  readonly added: readonly (Observation & Snapshot)[];
  readonly openedEpochs: readonly Epoch[];
  readonly contradiction: Contradiction | undefined;
  /** The state is uncertain until another retrieve. */
  readonly isCheckDue: boolean;
}

export function mergeObservations(known: Known, observations: readonly Observation[]): Merged {
  const snapshots = [...known.snapshots];
  const seen = new Set(snapshots.map(identityOf));
  const epochs = [...known.epochs];
  const added: (Observation & Snapshot)[] = [];
  let { contradiction } = known;
  let isHinted = false;

  const add = (observation: Observation, epoch: number): Snapshot => {
    const { ref, content, contentHash, source, observedMicros, webhookEventId } = observation;
    const snapshot = { ref, content, contentHash, source, observedMicros, webhookEventId, epoch };
    const identity = identityOf(snapshot);
    if (!seen.has(identity)) {
      seen.add(identity);
      snapshots.push(snapshot);
      added.push(snapshot);
    }
    return snapshot;
  };

  for (const observation of observations) {
    if (isHintObservation(observation)) {
      isHinted = true;
      continue;
    }
    if (observation.source !== 'retrieve') {
      add(observation, epochFor(observation, epochs));
      continue;
    }
    const snapshot = add(observation, newestEpoch(epochs));
    const comparison = compareRetrieve(
      snapshot,
      foldSnapshots(placeInEpochs(snapshots, epochs)),
      contradiction,
      snapshots,
    );
    switch (comparison.outcome) {
      case 'lags':
        break;
      case 'agrees':
        contradiction = undefined;
        break;
      case 'contradicts':
        ({ contradiction } = comparison);
        break;
      case 'opens_epoch':
        epochs.push(comparison.epoch);
        add(observation, comparison.epoch.epoch);
        contradiction = undefined;
        break;
    }
  }

  const placed = placeInEpochs(snapshots, epochs);
  const state = placed.length > 0 ? foldSnapshots(placed) : undefined;
  const openedEpochs = epochs.slice(known.epochs.length);
  const isNew = new Set(added.map(identityOf));
  const order = orderSnapshots(placed, (snapshot) => isNew.has(identityOf(snapshot)));
  return {
    state,
    order: openedEpochs.length > 0 ? { ...order, newest: undefined } : order,
    added,
    openedEpochs,
    contradiction,
    isCheckDue:
      isHinted ||
      contradiction !== undefined ||
      state === undefined ||
      state.uncertainties.length > 0 ||
      // The snapshots stay contradictory, so only a new one justifies another retrieve.
      (state.illegalSteps.length + state.namedPayments.length > 0 &&
        added.some(({ source }) => source !== 'retrieve')),
  };
}

function newestEpoch(epochs: readonly Epoch[]): number {
  return epochs.reduce((newest, { epoch }) => Math.max(newest, epoch), 0);
}

function identityOf({ epoch, contentHash }: Pick<Snapshot, 'epoch' | 'contentHash'>): string {
  return `${epoch}:${contentHash}`;
}

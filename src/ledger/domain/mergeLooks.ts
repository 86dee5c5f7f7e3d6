/**
 * Adds new looks at one resource to what is known of it, and says what follows. Pure: the caller
 * reads what is known under a lock and writes what comes back.
 */
import {
  type Contradiction,
  type Epoch,
  epochFor,
  judgeRetrieve,
  placeInEpochs,
} from './epochs.ts';
import { foldSnapshots, type ResourceState } from './merge.ts';
import { isHint, isSupplement, type Snapshot } from './snapshot.ts';

/** A snapshot before its epoch is decided. */
export interface Look extends Omit<Snapshot, 'epoch'> {
  /** The inbox row that brought it, if one did. */
  readonly webhookEventId: number | undefined;
}

/** Whether a look says too little to be a snapshot; see `isHint`. */
export function isHintLook({ source, ref, content }: Look): boolean {
  return source === 'list' && isHint(ref, content) && !isSupplement(content);
}

/** What is stored about one resource. */
export interface Known {
  readonly snapshots: readonly Snapshot[];
  readonly epochs: readonly Epoch[];
  readonly contradiction: Contradiction | undefined;
}

export interface Merged {
  /** Undefined when nothing but hints was ever seen. */
  readonly state: ResourceState | undefined;
  /** Snapshots that were not known, to be stored. */
  readonly added: readonly (Look & Snapshot)[];
  readonly openedEpochs: readonly Epoch[];
  readonly contradiction: Contradiction | undefined;
  /** The service must be asked again before the state can be trusted. */
  readonly isCheckDue: boolean;
}

export function mergeLooks(known: Known, looks: readonly Look[]): Merged {
  const snapshots = [...known.snapshots];
  const seen = new Set(snapshots.map(identityOf));
  const epochs = [...known.epochs];
  const added: (Look & Snapshot)[] = [];
  let { contradiction } = known;
  let isHinted = false;

  const add = (look: Look, epoch: number): Snapshot => {
    const snapshot = { ...look, epoch };
    const identity = identityOf(snapshot);
    if (!seen.has(identity)) {
      seen.add(identity);
      snapshots.push(snapshot);
      added.push(snapshot);
    }
    return snapshot;
  };

  for (const look of looks) {
    if (isHintLook(look)) {
      isHinted = true;
      continue;
    }
    if (look.source !== 'retrieve') {
      add(look, epochFor(look, epochs));
      continue;
    }
    const snapshot = add(look, newestEpoch(epochs));
    const judgement = judgeRetrieve(
      snapshot,
      foldSnapshots(placeInEpochs(snapshots, epochs)),
      contradiction,
      snapshots,
    );
    switch (judgement.outcome) {
      case 'agrees':
        contradiction = undefined;
        break;
      case 'contradicts':
        ({ contradiction } = judgement);
        break;
      case 'opens_epoch':
        epochs.push(judgement.epoch);
        add(look, judgement.epoch.epoch);
        contradiction = undefined;
        break;
    }
  }

  const state = snapshots.length > 0 ? foldSnapshots(placeInEpochs(snapshots, epochs)) : undefined;
  return {
    state,
    added,
    openedEpochs: epochs.slice(known.epochs.length),
    contradiction,
    isCheckDue:
      isHinted ||
      contradiction !== undefined ||
      state === undefined ||
      state.doubts.length > 0 ||
      // The history keeps what contradicts itself; asking again is worth it only when something is new.
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

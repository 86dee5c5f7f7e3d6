/** What a person requests about a line, and what becomes of it. */
import type { LineType, TargetKind } from './lines.ts';

/** What a line is to be about. */
export interface MatchTarget {
  readonly kind: TargetKind;
  /** Undefined for `adjustment` and `excluded`. */
  readonly id: string | undefined;
}

export interface MatchRequest {
  readonly lineId: number;
  readonly target: MatchTarget;
  readonly reason: string;
  /** Whether what the target still differs by is written off. */
  readonly writeOff: boolean;
  readonly by: string;
}

export type MatchedByHand =
  | {
      readonly outcome: 'matched';
      readonly writtenOffMinor: number;
      readonly currency: string;
      readonly transfers: number;
    }
  | { readonly outcome: 'no_line' }
  /** It is matched; that has to be undone first. */
  | { readonly outcome: 'already'; readonly target: MatchTarget }
  /** A line of this type cannot be about such a target. */
  | { readonly outcome: 'not_possible'; readonly type: LineType }
  | { readonly outcome: 'no_target' };

export type Unmatched =
  | { readonly outcome: 'unmatched'; readonly target: MatchTarget; readonly transfers: number }
  | { readonly outcome: 'no_line' }
  | { readonly outcome: 'not_matched' };

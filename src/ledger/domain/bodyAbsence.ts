/** Why an event has no body anymore, in words that a person can act on. */

export type BodyAbsence =
  /** Retention removed the bodies of its day. */
  | { readonly outcome: 'removed'; readonly at: Date }
  /** A person's data was erased. */
  | { readonly outcome: 'erased'; readonly at: Date }
  /** No record explains it: the body is lost. */
  | { readonly outcome: 'unexplained' };

/** A clause about an event, such as "its body was removed on 2026-11-22 by retention". */
export function describeAbsence(absence: BodyAbsence): string {
  switch (absence.outcome) {
    case 'removed':
      return `its body was removed on ${absence.at.toISOString().slice(0, 10)} by retention`;
    case 'erased':
      return `its body was erased on ${absence.at.toISOString().slice(0, 10)} with a person's data`;
    case 'unexplained':
      return 'its body is missing and nothing records why';
  }
}

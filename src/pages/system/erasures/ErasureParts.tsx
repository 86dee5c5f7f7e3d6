/** Parts that the pages of erasures share. */
import { readSubject } from '../../../erasure/domain/subjects.ts';
import type { ErasureRow } from '../../../erasure/store/erasures.ts';
import { Badge, Id } from '../../components/values.tsx';
import { erasuresHref, thingHref } from '../../links.ts';
import { SYSTEM_CRUMB } from '../SystemNav.tsx';

export const ERASURE_CRUMBS = [SYSTEM_CRUMB, { label: 'Erasures', href: erasuresHref() }];

export function ErasureState({ row: { state, remaining } }: { readonly row: ErasureRow }) {
  if (state === 'running') return <Badge tone="warn">running</Badge>;
  if (remaining === null || remaining === 0) return <Badge tone="good">done</Badge>;
  return <Badge tone="bad">values are left</Badge>;
}

/** @param most how many are named; the others are counted */
export function Subjects({
  subjects,
  most,
}: {
  readonly subjects: readonly string[];
  readonly most: number;
}) {
  return (
    <>
      {subjects.slice(0, most).map((subject) => (
        <div key={subject}>
          <Id id={subject} href={thingHref(readSubject(subject))} />
        </div>
      ))}
      {subjects.length > most ? <div>{`and ${subjects.length - most} more`}</div> : null}
    </>
  );
}

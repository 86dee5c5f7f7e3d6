/** The facts of a finding as stored, and links to what they name. */
import { Preformatted } from '../components/blocks.tsx';
import { Id } from '../components/values.tsx';
import { namedIn } from './namedIn.ts';

export function Facts({ detail }: { readonly detail: unknown }) {
  const named = namedIn(detail);
  return (
    <>
      <Preformatted label="Facts">{JSON.stringify(detail, null, 2)}</Preformatted>
      {named.length === 0 ? null : (
        <p>
          {'Named: '}
          {named.map(({ id, href }) => (
            <span key={href}>
              <Id id={id} href={href} />{' '}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

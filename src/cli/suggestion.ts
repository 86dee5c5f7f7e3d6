/** Suggests what a person may have meant by a name that does not exist. */
import { editDistance } from '../platform/editDistance.ts';

/** The most letters that may differ: a third of the name. */
const LARGEST_SHARE = 1 / 3;

/** `Did you mean refund_succeeded?`; undefined if no name is near. */
export function didYouMean(text: string, names: readonly string[]): string | undefined {
  const written = text.toLowerCase().replaceAll(/[.\- ]/g, '_');
  const [nearest] = names
    .map((name) => ({ name, letters: editDistance(written, name) }))
    .filter(({ name, letters }) => letters <= name.length * LARGEST_SHARE)
    .toSorted((one, other) => one.letters - other.letters);
  return nearest && `Did you mean ${nearest.name}?`;
}

/**
 * The live part of pages, rendered once for all viewers who would see the same.
 *
 * 1. A fragment depends on its address and the role of its viewer, and on nothing else of the session: a
 *    page with topics reads nothing of its viewer. The one exception are form tokens. A fragment has a
 *    placeholder in their place, a secret of this process that no text from outside can contain, and
 *    each viewer gets the fragment with the token of their own session.
 * 2. A fragment is shared until one of its topics moves, and for half a minute at most, because times
 *    that are left change without an event.
 */
import { randomBytes } from 'node:crypto';
import { monotonicMs } from '../../platform/clock.ts';
import { SECOND_MS } from '../../platform/time.ts';
import type { Topic } from './topics.ts';
import type { Place, Watcher } from './watcher.ts';

const MAX_AGE_MS = 30 * SECOND_MS;
/** A fragment has up to a few hundred kilobytes. */
const MAX_FRAGMENTS = 100;

export interface Fragment {
  readonly html: string;
  readonly topics: readonly Topic[];
  readonly place: Place;
}

interface Shared<Failed> {
  readonly place: Place;
  readonly readAtMs: number;
  readonly made: Promise<Fragment | Failed>;
  /** Undefined while it is being made. */
  fragment: Fragment | undefined;
}

export interface Fragments<Failed> {
  /** In place of the form token of whoever gets the fragment. */
  readonly formToken: string;
  /** @param make reads and renders the fragment; a failure is not shared with later viewers */
  get(key: string, make: (place: Place) => Promise<Fragment | Failed>): Promise<Fragment | Failed>;
  /** The fragment for a viewer of this session. */
  fill(fragment: Fragment, session: { readonly formToken: string }): string;
}

export function createFragments<Failed>(
  watcher: Pick<Watcher, 'place' | 'hasMoved' | 'spend'>,
): Fragments<Failed> {
  const formToken = `form-token-${randomBytes(16).toString('hex')}`;
  const shared = new Map<string, Shared<Failed>>();

  const isCurrent = ({ place, readAtMs, fragment }: Shared<Failed>): boolean => {
    if (monotonicMs() - readAtMs > MAX_AGE_MS) return false;
    return fragment ? !watcher.hasMoved(fragment.topics, place) : place === watcher.place();
  };

  const add = (key: string, one: Shared<Failed>): void => {
    shared.delete(key);
    shared.set(key, one);
    const [oldest] = shared.keys();
    if (shared.size > MAX_FRAGMENTS && oldest !== undefined) shared.delete(oldest);
  };

  return {
    formToken,
    get: async (key, make) => {
      const known = shared.get(key);
      if (known && isCurrent(known)) return await known.made;
      const place = watcher.place();
      const one: Shared<Failed> = {
        place,
        readAtMs: monotonicMs(),
        made: make(place),
        fragment: undefined,
      };
      add(key, one);
      const forget = () => {
        if (shared.get(key) === one) shared.delete(key);
      };
      try {
        const made = await one.made;
        if (isFragment(made)) one.fragment = made;
        else forget();
        return made;
      } catch (error) {
        forget();
        throw error;
      } finally {
        watcher.spend(monotonicMs() - one.readAtMs);
      }
    },
    fill: ({ html }, session) => html.replaceAll(formToken, () => session.formToken),
  };
}

function isFragment(made: unknown): made is Fragment {
  return typeof made === 'object' && made !== null && 'html' in made;
}

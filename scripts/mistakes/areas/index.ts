/** Every mistake, by the part of the program that it is in. */
import type { Area } from '../mistake.ts';
import { FEED } from './feed.ts';
import { MERGE } from './merge.ts';

export const AREAS: readonly Area[] = [
  { name: 'merge', mistakes: MERGE },
  { name: 'feed', mistakes: FEED },
];

/** Every mistake, by the part of the program that it is in. */
import type { Area } from '../mistake.ts';
import { AUTHORIZATIONS } from './authorizations.ts';
import { CONSOLE } from './console.ts';
import { FEED } from './feed.ts';
import { JOURNAL } from './journal.ts';
import { MERGE } from './merge.ts';
import { MONEY } from './money.ts';
import { NOTIFY } from './notify.ts';
import { PLATFORM } from './platform.ts';
import { READERS } from './readers.ts';
import { RECEIVER } from './receiver.ts';
import { RECONCILE } from './reconcile.ts';
import { REMOVAL } from './removal.ts';
import { SANDBOX } from './sandbox.ts';
import { SETTLEMENT } from './settlement.ts';

export const AREAS: readonly Area[] = [
  { name: 'merge', mistakes: MERGE },
  { name: 'feed', mistakes: FEED },
  { name: 'journal', mistakes: JOURNAL },
  { name: 'settlement', mistakes: SETTLEMENT },
  { name: 'receiver', mistakes: RECEIVER },
  { name: 'reconcile', mistakes: RECONCILE },
  { name: 'authorizations', mistakes: AUTHORIZATIONS },
  { name: 'notify', mistakes: NOTIFY },
  { name: 'readers', mistakes: READERS },
  { name: 'console', mistakes: CONSOLE },
  { name: 'removal', mistakes: REMOVAL },
  { name: 'money', mistakes: MONEY },
  { name: 'platform', mistakes: PLATFORM },
  { name: 'sandbox', mistakes: SANDBOX },
];

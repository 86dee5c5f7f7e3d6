import { AUTHORIZATIONS } from './authorizations.ts';
import { FINDINGS_AND_ALERTS } from './findings.ts';
import { INBOX } from './inbox.ts';
import { LEDGER } from './ledger.ts';
import { NOTIFY } from './notify.ts';
import { RECONCILE } from './reconcile.ts';

/** The model of every statement that the simulated processes send. */
export const MODELS = [
  ...INBOX,
  ...LEDGER,
  ...FINDINGS_AND_ALERTS,
  ...NOTIFY,
  ...RECONCILE,
  ...AUTHORIZATIONS,
];

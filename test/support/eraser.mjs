/**
 * Carries out the requests for erasure that are due, as the scheduler does, and kills itself at a statement:
 * at the given number of statements or of those that write, before it is sent or right after. Begins at
 * SIGUSR2, so that a test can start the next process while this one works. At its end it prints how many
 * statements it sent.
 */
import pg from 'pg';
import { continueErasures } from '../../dist/src/actions/continueErasures.js';
import { createDatabase } from '../../dist/src/platform/db/database.js';
import { createLog } from '../../dist/src/platform/log.js';

const [connectionString, counted, number, moment] = process.argv.slice(2);
const log = createLog('silent');
const db = createDatabase({
  connectionString,
  log,
  applicationName: 'eraser',
  maxConnections: 3,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
const sent = { statements: 0, writes: 0 };
const send = pg.Client.prototype.query;
pg.Client.prototype.query = function (...given) {
  const text = String(given[0]?.text ?? given[0]);
  sent.statements += 1;
  if (/^\s*(insert|update|delete|with|commit|select redact)/i.test(text)) sent.writes += 1;
  const isHere = sent[counted] === Number(number);
  if (isHere && moment === 'before') process.kill(process.pid, 'SIGKILL');
  const result = send.apply(this, given);
  if (isHere) process.kill(process.pid, 'SIGKILL');
  return result;
};

// The timer keeps the process alive until the signal.
const timer = setInterval(() => undefined, 60_000);
const begin = new Promise((resolve) => process.once('SIGUSR2', resolve));
process.stdout.write('ready\n');
await begin;
clearInterval(timer);
const actor = { kind: 'process', name: 'eraser', role: 'process', origin: 'test' };
await continueErasures({ db, log, actor, signal: new AbortController().signal });
await db.close();
process.stdout.write(`${JSON.stringify(sent)}\n`);

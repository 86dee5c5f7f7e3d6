/** What a process logs or refuses at startup about a pooler before the database. */
import type { Config } from '../config/config.ts';
import { judgePooling } from '../doctor/domain/judgePooling.ts';
import type { Pooling } from '../platform/db/pooler.ts';
import { UsageError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';

/** @throws UsageError if the pooler allows no transactions */
export function refuseStatementMode(pooling: Pooling, config: Config): void {
  if (pooling.mode !== 'statement') return;
  const { result, remedy } = judgePooling(pooling, config);
  throw new UsageError(`DATABASE_URL leads to ${result}. ${remedy}`);
}

/** Logs a pooler, and what it lacks. The process continues: a receiver persists events without the queue. */
export function logPooling(pooling: Pooling, config: Config, log: Log): void {
  if (pooling.mode === 'direct') return;
  const { state, result, remedy } = judgePooling(pooling, config);
  if (state === 'ok') log.info(pooling, 'database.pooler');
  else log.error({ ...pooling, problem: result, remedy }, 'database.pooler_unsuitable');
}

/** Logs, once at startup, what the settings expose: `tallyhook doctor` reports the same. */
import type { Config } from '../config/config.ts';
import { judgeKeyKind, judgeMissingService } from '../doctor/domain/judge.ts';
import { judgeConnections, judgePorts, judgeSecretFiles } from '../doctor/domain/judgeExposure.ts';
import type { Log } from '../platform/log.ts';
import { serversOfRedisUrl } from '../platform/queue/redisAddress.ts';
import type { Role } from './roles.ts';
import { serviceOf } from './settings.ts';

export function logSettingWarnings(config: Config, roles: ReadonlySet<Role>, log: Log): void {
  const service = serviceOf(config);
  const hasLedger = [...roles].some((role) => role !== 'sandbox');
  const judgments = [
    judgeConnections({ ...config, redis: serversOfRedisUrl(config.redisUrl) }),
    judgePorts({
      adminHost: roles.has('console') ? config.adminHost : undefined,
      metricsHost: hasLedger ? config.metricsHost : undefined,
    }),
    judgeSecretFiles(config.secretFiles),
    ...(service ? [judgeKeyKind(service.apiKey, service.baseUrl)] : []),
    // An installation without a key receives events only, on purpose; a sandbox alone has no ledger.
    ...(hasLedger && !service && config.apiKey !== undefined ? [judgeMissingService(config)] : []),
  ];
  for (const { state, result, remedy } of judgments) {
    if (state !== 'ok') log.warn({ problem: result, remedy }, 'settings.unsafe');
  }
}

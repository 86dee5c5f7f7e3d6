/** The role `sandbox`: a local simulation of the payment service. */
import type { Config } from '../config/config.ts';
import { localSecret } from '../config/localSecrets.ts';
import { UsageError } from '../platform/errors.ts';
import { localUrl } from '../platform/httpServer.ts';
import type { Log } from '../platform/log.ts';
import { type RunningSandbox, startSandbox } from '../sandbox/startSandbox.ts';
import { isProductionKey, sandboxSecretOf } from './settings.ts';

interface SandboxInput {
  readonly log: Log;
  readonly databaseUrl: string;
  /** Port of the receiver in this process, if it has one. */
  readonly receiverPort: number | undefined;
  readonly startAtMs?: number | undefined;
}

export async function startSandboxRole(
  config: Config,
  input: SandboxInput,
): Promise<RunningSandbox> {
  const { databaseUrl, log, receiverPort = config.port } = input;
  if (isProductionKey(config.apiKey)) {
    throw new UsageError(
      'PAYMENTS_API_KEY is a production key, and the sandbox does not run with one: its test ' +
        'payments could be mistaken for real ones. Remove the role sandbox, or the key.',
    );
  }
  return await startSandbox({
    databaseUrl,
    port: config.sandboxPort,
    apiKey: config.apiKey ?? localSecret(config.dataDir, 'sandbox-api-key', 'snd_'),
    webhook: {
      url: `${localUrl(config.host, receiverPort)}${config.webhookPath}`,
      secret: sandboxSecretOf(config),
    },
    log,
    startAtMs: input.startAtMs,
  });
}

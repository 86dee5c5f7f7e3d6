import { Command } from 'commander';
import { type Running, start } from '../../assembly/start.ts';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { runUntilSignal } from '../../platform/shutdown.ts';
import { explainDatabase, printJsonLine, readConfig } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, momentOption } from '../options.ts';
import { receiverSettingLines } from '../receiverSettings.ts';

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .addOption(
      momentOption(
        '--at',
        'time at which the clock of a new sandbox starts (default: now), to rehearse a date',
      ),
    )
    .addOption(jsonOption())
    .action(async ({ json, at }: { readonly json: boolean; readonly at?: number }) => {
      const config = readConfig();
      const log = createLog(config.logLevel);
      await runUntilSignal(async () => {
        const running = await start(config, new Set(['sandbox'] as const), {
          machine: systemClock,
          log,
          sandboxStartMs: at === undefined ? undefined : at / 1_000,
        }).catch((error: unknown) => explainDatabase(error, config));
        const facts = describe(config, running);
        if (json) printJsonLine(facts);
        else printFacts(facts, config);
        return running;
      }, log);
    });
}

/** What a caller needs. The key is not printed, only where to find it. */
function describe(config: Config, { sandbox, isEmbedded }: Running): Record<string, string> {
  return {
    base_url: sandbox?.baseUrl ?? '',
    api_key: config.apiKey === undefined ? `${config.dataDir}/sandbox-api-key` : 'PAYMENTS_API_KEY',
    merchant_id: sandbox?.merchantId ?? '',
    profile_id: sandbox?.profileId ?? '',
    control_url: `${sandbox?.baseUrl}/_sandbox`,
    database: isEmbedded ? config.dataDir : 'DATABASE_URL',
  };
}

function printFacts(facts: Record<string, string>, config: Config): void {
  printLine('The sandbox is running. No real money moves.');
  for (const [name, value] of Object.entries(facts))
    printLine(`  ${name.replace('_', ' ').padEnd(12)} ${value}`);
  const { base_url: baseUrl = '', merchant_id: merchantId = '' } = facts;
  for (const line of receiverSettingLines(config, { baseUrl, merchantId })) printLine(line);
}

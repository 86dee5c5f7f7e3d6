import { randomUUID } from 'node:crypto';
import { Command, Option } from 'commander';
import { channelsOf } from '../../assembly/alerts.ts';
import type { Channel } from '../../notify/channels/index.ts';
import { CHANNELS, type ChannelName } from '../../notify/domain/message.ts';
import { systemClock } from '../../platform/clock.ts';
import { OperatorError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { printJson, readConfig } from '../context.ts';
import { jsonOption } from '../options.ts';
import { printTable } from '../table.ts';
import {
  acknowledgeAlertCommand,
  listAlertsCommand,
  showAlertCommand,
  snoozeAlertCommand,
} from './alertsInHand.ts';

export function alertsCommand(): Command {
  return new Command('alerts')
    .addCommand(listAlertsCommand())
    .addCommand(showAlertCommand())
    .addCommand(acknowledgeAlertCommand())
    .addCommand(snoozeAlertCommand())
    .addCommand(testCommand());
}

interface TestOptions {
  readonly channel?: ChannelName;
  readonly json: boolean;
}

function testCommand(): Command {
  return new Command('test')
    .description('send a test message through each configured channel and print the responses')
    .addOption(new Option('--channel <name>', 'test only this channel').choices(CHANNELS))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe shop receives a signed message of type `test`.\n\nExit code: 0 every channel accepted it, 1 a channel did not, or is not configured.',
    )
    .action(async ({ channel: name, json }: TestOptions) => {
      const config = readConfig();
      const channels = channelsOf(config, {
        clock: systemClock,
        log: createLog(config.logLevel),
      }).filter((channel) => name === undefined || channel.name === name);
      if (channels.length === 0) {
        const what =
          name === undefined ? 'No channel is configured' : `The channel ${name} is not configured`;
        throw new OperatorError(`${what}. docs/guides/alerts.md lists the settings it needs.`);
      }
      const tested = await Promise.all(channels.map(testChannel));
      if (json) printJson({ channels: tested });
      else printTable(['CHANNEL', 'TEST', 'RESPONSE'], tested.map(rowOf));
      if (tested.some(({ outcome }) => outcome !== 'delivered')) process.exitCode = 1;
    });
}

interface Tested {
  readonly channel: ChannelName;
  readonly outcome: 'delivered' | 'failed';
  readonly response: string;
}

async function testChannel(channel: Channel): Promise<Tested> {
  const createdAt = new Date(systemClock.nowMs());
  const { outcome, response } = await channel.send({
    id: `msg_${randomUUID()}`,
    content: { kind: 'test', at: createdAt.toISOString() },
    createdAt,
  });
  return {
    channel: channel.name,
    outcome: outcome === 'delivered' ? outcome : 'failed',
    response,
  };
}

function rowOf({ channel, outcome, response }: Tested): readonly string[] {
  return [channel, outcome, response];
}

import { Command, Option } from 'commander';
import { type TestedChannel, testChannelsAs } from '../../actions/testChannels.ts';
import { channelsOf, newTestMessage } from '../../assembly/alerts.ts';
import { channelSetting } from '../../notify/domain/channel.ts';
import { CHANNELS, type ChannelName } from '../../notify/domain/message.ts';
import { systemClock } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, terminal } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { printTable } from '../table.ts';

interface TestOptions {
  readonly channel?: ChannelName;
  readonly by?: string;
  readonly json: boolean;
}

/** The command that sends a test message through the channels of alerts. */
export function testChannelsCommand(): Command {
  return new Command('test')
    .description('send a test message through each configured channel and print the responses')
    .addOption(new Option('--channel <name>', 'test only this channel').choices(CHANNELS))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe shop receives a signed message of type `test`.\n\nExit code: 0 every channel accepted it, 2 a channel is not configured, 5 one did not.',
    )
    .action(async ({ channel: name, by, json }: TestOptions) => {
      const config = readConfig();
      // With --json, standard output has nothing but the result.
      const out = json ? terminal().stderr : terminal().stdout;
      const channels = channelsOf(config, {
        clock: systemClock,
        log: createLog(config.logLevel, (line) => out.write(line)),
      }).filter((channel) => name === undefined || channel.name === name);
      if (channels.length === 0) {
        const what =
          name === undefined
            ? 'No channel is configured.'
            : `The channel ${name} is not configured: set ${channelSetting(name)} for this command, too, for example in the file .env of this folder.`;
        throw new UsageError(`${what} docs/guides/alerts.md lists the settings of channels.`);
      }
      const tested = await withDatabase(config, (db) =>
        testChannelsAs({ db, channels }, actorOf(by), () => newTestMessage(systemClock)),
      );
      if (json) printJson({ channels: tested });
      else printTable(['CHANNEL', 'TEST', 'RESPONSE'], tested.map(rowOf));
      if (tested.some(({ outcome }) => outcome !== 'delivered')) endAs('unavailable');
    });
}

function rowOf({ channel, outcome, response }: TestedChannel): readonly string[] {
  return [channel, outcome, response];
}

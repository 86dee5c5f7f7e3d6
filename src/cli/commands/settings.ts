import { Command } from 'commander';
import { isSet, type SettingInForce, type SettingSource } from '../../config/settingsInForce.ts';
import { printJson, readConfig } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { printTable } from '../table.ts';

const SOURCES: Readonly<Record<SettingSource, string>> = {
  environment: 'environment',
  file: '.env',
  secret_file: 'file',
  default: 'default',
  unset: 'not set',
};

export function settingsCommand(): Command {
  return new Command('settings')
    .option('--all', 'also settings that have their default, or none', false)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nReads the environment of this shell and the file `.env`. Exit code: 0.',
    )
    .action(({ all, json }: { readonly all: boolean; readonly json: boolean }) => {
      const settings = readConfig().inForce.filter((setting) => all || isSet(setting));
      if (json) printJson({ settings: settings.map(settingJson) });
      else if (settings.length === 0) printLine('No setting is set: every one has its default.');
      else {
        printTable(
          ['SETTING', 'VALUE', 'FROM'],
          settings.map((setting) => [
            setting.name,
            valueText(setting),
            setting.path === undefined ? SOURCES[setting.source] : setting.path,
          ]),
        );
      }
    });
}

function settingJson({ name, value, source, path, fingerprints }: SettingInForce) {
  return { name, value, source, path: path ?? null, fingerprints: fingerprints ?? null };
}

function valueText({ value, source, fingerprints }: SettingInForce): string {
  if (value !== null) return value;
  if (fingerprints !== undefined) return `(hidden; fingerprints ${fingerprints.join(', ')})`;
  return source === 'unset' ? '-' : '(hidden)';
}

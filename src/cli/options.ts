/** Options that several commands take. */
import { InvalidArgumentError, Option } from 'commander';

const MAX_ROWS = 1_000;

export function jsonOption(): Option {
  return new Option('--json', 'print JSON instead of text').default(false);
}

export function limitOption(): Option {
  return new Option('--limit <rows>', `most rows to print, up to ${MAX_ROWS}`)
    .default(50)
    .argParser((text) => {
      const limit = Number(text);
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
        throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_ROWS}.`);
      }
      return limit;
    });
}

export function secretOption(): Option {
  return new Option(
    '--secret <secret>',
    'sign with this secret instead of the first of WEBHOOK_SECRETS',
  );
}

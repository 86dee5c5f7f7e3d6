/** Options that several commands take. */
import { InvalidArgumentError, Option } from 'commander';
import { isMonth, isTimeZone } from '../ledger/domain/period.ts';
import { parseInstantMicros } from '../ledger/domain/time.ts';

const MAX_ROWS = 1_000;

export function jsonOption(): Option {
  return new Option('--json', 'print JSON instead of text').default(false);
}

export function limitOption(): Option {
  return new Option('--limit <rows>', `maximum number of rows, up to ${MAX_ROWS}`)
    .default(50)
    .argParser((text) => {
      const limit = Number(text);
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
        throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_ROWS}.`);
      }
      return limit;
    });
}

/** How many earlier rows a command prints before new ones. */
export function lastOption(): Option {
  return new Option('--last <rows>', `first print so many earlier rows, up to ${MAX_ROWS}`)
    .default(10)
    .argParser((text) => {
      const rows = Number(text);
      if (/^\d+$/.test(text) && rows <= MAX_ROWS) return rows;
      throw new InvalidArgumentError(`Give a whole number from 0 to ${MAX_ROWS}.`);
    });
}

/** Reads the number by which a list names its rows. @param name with its article, such as `an alert` */
export function readNumberOf(name: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`Give the number of ${name}, such as 12.`);
  };
}

/** Reads an amount that is to move. */
export function readMinor(text: string): number {
  const minor = Number(text);
  if (/^\d{1,15}$/.test(text) && minor >= 1) return minor;
  throw new InvalidArgumentError('Give a whole number of minor units, such as 6540 for 65.40 USD.');
}

export function secretOption(): Option {
  return new Option(
    '--secret <secret>',
    'sign with this secret instead of the first of WEBHOOK_SECRETS',
  );
}

/** A time as microseconds since 1970: an ISO 8601 time, or a date, which means its midnight in UTC. */
export function momentOption(flag: string, description: string): Option {
  return new Option(`${flag} <time>`, description).argParser((text) => {
    const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
    const micros = parseInstantMicros(isDate ? `${text}T00:00:00Z` : text);
    if (micros === undefined) {
      throw new InvalidArgumentError(
        'Give a date such as 2026-11-01 or a time such as 2026-11-01T10:00:00Z, in UTC unless it names a zone.',
      );
    }
    return micros;
  });
}

export function monthOption(description: string): Option {
  return new Option('--month <month>', description).argParser((text) => {
    if (isMonth(text)) return text;
    throw new InvalidArgumentError('Give a month such as 2026-10.');
  });
}

/** A day, in the time zone of the command. */
export function dayOption(flag: string, description: string): Option {
  return new Option(`${flag} <day>`, description).argParser((text) => {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && isMonth(text.slice(0, 7));
    if (isDay && parseInstantMicros(`${text}T00:00:00Z`) !== undefined) return text;
    throw new InvalidArgumentError('Give a day such as 2026-10-31.');
  });
}

/** A time zone that follows from closed months where it is not given. */
export function optionalTimeZone(): Option {
  return new Option(
    '--time-zone <name>',
    'in which months and days begin, such as Europe/Berlin (default: that of the closed months, or UTC)',
  ).argParser((text) => {
    if (isTimeZone(text)) return text;
    throw new InvalidArgumentError('Give the name of a time zone, such as Europe/Berlin or UTC.');
  });
}

/** Whole minutes, up to a week. */
export function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= 10_080) return minutes;
  throw new InvalidArgumentError('Give whole minutes, from 1 to 10080.');
}

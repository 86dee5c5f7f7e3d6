/** Options that select events of the inbox. */
import { type Command, Option } from 'commander';
import { EVENT_TYPES } from '../contract/events.ts';
import type { EventQuery } from '../ledger/read/eventFilter.ts';
import { EVENT_STATES, type EventState } from '../ledger/read/store/parts.ts';
import { UsageError } from '../platform/errors.ts';
import { printNote } from './invocation.ts';
import { momentOption } from './options.ts';
import { didYouMean } from './suggestion.ts';

export interface EventFilterOptions {
  readonly state?: EventState;
  readonly type?: string;
  readonly order?: string;
  /** Microseconds since 1970, as `to`. */
  readonly from?: number;
  readonly to?: number;
}

export function addEventOptions(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only events in this state').choices(EVENT_STATES))
    .addOption(typeOption())
    .option('--order <id>', 'only events that brought something new about this order')
    .addOption(momentOption('--from', 'only events received at this time or later'))
    .addOption(momentOption('--to', 'only events received before this time'));
}

/** Accepts each type: the service may send one that the contract does not define. */
export function typeOption(): Option {
  return new Option(
    '--type <type>',
    'only events of this type, such as payment_succeeded',
  ).argParser((type) => {
    if (!EVENT_TYPES.some((one) => one === type)) {
      const defined = didYouMean(type, EVENT_TYPES) ?? `It defines ${EVENT_TYPES.join(', ')}.`;
      printNote(`The contract defines no event type ${type}. ${defined}`);
    }
    return type;
  });
}

/**
 * The filter that the options describe.
 * @throws UsageError if the range of time is empty
 */
export function eventQueryOf({ state, type, order, from, to }: EventFilterOptions): EventQuery {
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError(
      '--from must be before --to. The range includes --from and excludes --to.',
    );
  }
  return { state, type, order, from: iso(from), to: iso(to) };
}

function iso(micros: number | undefined): string | undefined {
  return micros === undefined ? undefined : new Date(micros / 1000).toISOString();
}

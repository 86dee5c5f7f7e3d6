import { Command, InvalidArgumentError, Option } from 'commander';
import { overviewJson } from '../../overview/overviewJson.ts';
import { type Overview, readOverview } from '../../overview/readOverview.ts';
import { type Clock, monotonicMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { isDatabaseUnavailable } from '../../platform/db/failures.ts';
import { toError, UnavailableError } from '../../platform/errors.ts';
import { sleep } from '../../platform/sleep.ts';
import { SECOND_MS } from '../../platform/time.ts';
import { roughly } from '../../representation/roughly.ts';
import { createTokenCheck } from '../authorize.ts';
import { clockOf, printJson, printJsonLine, readConfig, withDatabase } from '../context.ts';
import { failureJson } from '../failure.ts';
import { untilStopped } from '../following.ts';
import { printEscaped, terminal } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { createScreen, type Screen } from '../screen.ts';
import { statusLines } from '../statusLines.ts';
import { type Line, styled, styleOf } from '../style.ts';

/** Today and yesterday. */
const MONEY_DAYS = 2;
/** A database that does not respond for so long is shown as lost. */
const PATIENCE_MS = 5 * SECOND_MS;
const MAX_EVERY_SECONDS = 3_600;

const NO_RESPONSE = new UnavailableError('it does not respond');

interface StatusOptions {
  readonly watch: boolean;
  readonly every: number;
  readonly json: boolean;
}

export function statusCommand(): Command {
  return new Command('status')
    .option('--watch', 'refresh until you press Ctrl-C', false)
    .addOption(everyOption())
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action((options: StatusOptions) =>
      withDatabase(readConfig(), async (db) => {
        if (options.watch) await untilStopped(({ signal }) => watch(options, db, signal));
        else print(await createReader(db)(), options);
      }),
    );
}

const NOTES = `
One screen: open alerts, deadlines of the next 48 hours, money of today and yesterday, events,
reconciliation, processes. The first page of the console has the same, and \`npx tallyhook open\` opens it.

With --watch a terminal is redrawn in place; a pipe gets a new block each time, and with --json one line of
JSON. If the database is lost, that is shown, with --json as an error, and the display continues when it is
back.

Examples:

  tallyhook status
  tallyhook status --watch
  tallyhook status --json

Exit code: 0 it was read, also if something is wrong; \`npx tallyhook doctor\` fails then.`;

function everyOption(): Option {
  return new Option('--every <seconds>', 'with --watch: seconds between refreshes')
    .default(2)
    .argParser((text) => {
      const seconds = Number(text);
      if (/^\d+$/.test(text) && seconds >= 1 && seconds <= MAX_EVERY_SECONDS) return seconds;
      throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_EVERY_SECONDS}.`);
    });
}

function print(overview: Overview, { json }: StatusOptions): void {
  if (json) {
    printJson(overviewJson(overview));
    return;
  }
  const style = styleOf(terminal().stdout);
  for (const line of statusLines(overview)) printEscaped(styled(line, style));
}

function createReader(db: Database): () => Promise<Overview> {
  let clock: Clock | undefined;
  return async () => {
    clock ??= await clockOf(db);
    return await readOverview(db, { nowMs: clock.nowMs(), moneyDays: MONEY_DAYS });
  };
}

async function watch(options: StatusOptions, db: Database, signal: AbortSignal): Promise<void> {
  const display = options.json ? lines() : onScreen(createScreen(terminal().stdout));
  const read = createReader(db);
  const checkToken = createTokenCheck(db, readConfig());
  let reading: Promise<Overview> | undefined;
  let lostMs: number | undefined;
  while (!signal.aborted) {
    const startMs = monotonicMs();
    reading ??= checkToken().then(read);
    const seen = await Promise.race([settled(reading), sleep(PATIENCE_MS, signal)]);
    if (signal.aborted) return;
    if (seen !== undefined) reading = undefined;
    if (seen?.overview) {
      lostMs = undefined;
      display.show(seen.overview);
    } else {
      lostMs ??= startMs;
      display.showLost(seen?.error ?? NO_RESPONSE, monotonicMs() - lostMs);
    }
    await sleep(options.every * SECOND_MS, signal);
  }
}

type Seen =
  | { readonly overview: Overview }
  | { readonly overview?: undefined; readonly error: Error };

/** What was read, or why the database is unavailable. @throws every other error */
async function settled(reading: Promise<Overview>): Promise<Seen> {
  try {
    return { overview: await reading };
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return { error: toError(error) };
  }
}

interface Display {
  show(overview: Overview): void;
  showLost(error: Error, lostForMs: number): void;
}

function onScreen(screen: Screen): Display {
  let last: readonly Line[] = [];
  return {
    show: (overview) => {
      last = statusLines(overview);
      screen.show(last);
    },
    showLost: ({ message }, lostForMs) => {
      const before = last.length === 0 ? '' : ' What follows was read before.';
      const text = `NO DATABASE for ${roughly(lostForMs / 1000)}: ${message}.${before}`;
      screen.show([{ text, look: 'bad' }, { text: '', look: 'plain' }, ...last]);
    },
  };
}

/** One JSON document a line. */
function lines(): Display {
  return {
    show: (overview) => printJsonLine(overviewJson(overview)),
    showLost: (error) => printJsonLine(failureJson(error)),
  };
}

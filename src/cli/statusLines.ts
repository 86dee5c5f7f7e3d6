/** The overview on one screen: what is wrong comes first, and a section where all is well is one line. */
import { formatMoney } from '../contract/money.ts';
import type { DatedTotals } from '../ledger/read/store/dayTotals.ts';
import { idOf } from '../overview/deadlines.ts';
import type { Overview } from '../overview/readOverview.ts';
import { counted } from '../platform/counted.ts';
import { DAY_MS } from '../platform/time.ts';
import { foundText, verdictOf } from '../reconcile/domain/verdict.ts';
import { processStateOf } from '../representation/process.ts';
import { roughly } from '../representation/roughly.ts';
import { formatTime } from '../representation/time.ts';
import type { Line, Look } from './style.ts';

export function statusLines(overview: Overview): readonly Line[] {
  const { headline, nowMs } = overview;
  return [
    line(headline.text, headline.tone),
    line(''),
    ...alertLinesOf(overview),
    ...deadlineLines(overview),
    ...moneyLines(overview),
    ...eventLines(overview),
    ...runLines(overview),
    ...processLines(overview),
    line(`${label('As of')}${formatTime(new Date(nowMs))}`),
  ];
}

/** Text from outside must not move the cursor or change the colors of a terminal. */
function line(text: string, look: Look = 'plain'): Line {
  return { text, look };
}

const LABEL_WIDTH = 16;

function label(name: string): string {
  return name.padEnd(LABEL_WIDTH);
}

function ago(at: Date, nowMs: number): string {
  return `${roughly(Math.max(0, nowMs - at.getTime()) / 1000)} ago`;
}

const SEVERITIES = { critical: 'bad', warning: 'warn', info: 'plain' } as const;

function alertLinesOf({ alerts, unresolved, nowMs }: Overview): readonly Line[] {
  if (unresolved === 0) return [line(`${label('Alerts')}none is open`)];
  const more = unresolved > alerts.length ? ', `npx tallyhook alerts list` has all' : '';
  return [
    line(`${label('Alerts')}${unresolved} not resolved${more}`),
    ...alerts.map(({ severity, alert, text, openSince, isHandled }) => {
      const number = alert === undefined ? '' : `, alert ${alert}`;
      const since = `${ago(openSince, nowMs)}${number}${isHandled ? ', in hand' : ''}`;
      return line(`  ${severity.padEnd(LABEL_WIDTH - 2)}${text} (${since})`, SEVERITIES[severity]);
    }),
  ];
}

function deadlineLines({ deadlines }: Overview): readonly Line[] {
  if (deadlines.length === 0) return [line(`${label('Deadlines')}none within 48 hours`)];
  return [
    line(`${label('Deadlines')}${deadlines.length} within 48 hours`),
    ...deadlines.map((deadline) => {
      const { at, what, amountMinor, currency } = deadline;
      const amount =
        amountMinor === null || currency === null ? '' : `, ${formatMoney(amountMinor, currency)}`;
      return line(`  ${formatTime(at)}  ${what}: ${idOf(deadline)}${amount}`, 'warn');
    }),
  ];
}

function moneyLines({ totals, nowMs }: Overview): readonly Line[] {
  return (['today', 'yesterday'] as const).flatMap((name, daysAgo) => {
    const day = new Date(nowMs - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const rows = totals.filter((row) => row.day === day);
    const texts = rows.length === 0 ? ['none recorded'] : rows.map(moneyText);
    const first = daysAgo === 0 ? `Money ${name}` : `      ${name}`;
    return texts.map((text, place) => line(`${label(place === 0 ? first : '')}${text}`));
  });
}

function moneyText({ currency, ...row }: DatedTotals): string {
  const money = (minor: bigint) => formatMoney(minor, currency);
  return `${money(row.capturedMinor)} captured, ${money(row.refundedMinor)} refunded, ${money(row.disputedMinor)} disputed, ${money(row.paidOutMinor)} paid out`;
}

function eventLines({ inbox, flow, nowMs }: Overview): readonly Line[] {
  const { lastReceivedSeconds, pending, oldestAgeSeconds, dead } = inbox;
  if (lastReceivedSeconds === null) return [line(`${label('Events')}none has arrived`)];
  const last = ago(new Date(lastReceivedSeconds * 1000), nowMs);
  const speed =
    flow.typicalSeconds === null ? '' : `, applied within ${roughly(flow.typicalSeconds)}`;
  const oldest = pending === 0 ? '' : `, the oldest for ${roughly(oldestAgeSeconds)}`;
  return [
    line(`${label('Events')}the last ${last}, ${flow.lastMinute} in the last minute${speed}`),
    line(`${label('')}${pending} pending${oldest}; ${dead} dead`, dead > 0 ? 'bad' : 'plain'),
  ];
}

function runLines({ runs, pause, missed, nowMs }: Overview): readonly Line[] {
  const paused = pause && line(`${label('')}paused by ${pause.pausedBy}: ${pause.reason}`, 'warn');
  return [
    line(`${label('Reconciliation')}${counted(missed, 'missed webhook')} in 24 hours`),
    ...(paused ? [paused] : []),
    ...runs.map((run) => {
      const verdict = verdictOf(run);
      const isBad = verdict === 'different' || verdict === 'failed';
      const text = `  ${run.stream.padEnd(LABEL_WIDTH - 2)}${verdict}, ${foundText(run)}, ${ago(run.startedAt, nowMs)}`;
      return line(text, isBad ? 'bad' : 'plain');
    }),
  ];
}

/** Those that are ready are one line. */
function processLines({ processes, nowMs }: Overview): readonly Line[] {
  const versions = [...new Set(processes.map(({ version }) => version))].toSorted();
  const ready = processes.filter((row) => processStateOf(row) === 'ready');
  const summary =
    processes.length === 0
      ? 'none has reported; `npx tallyhook start` starts one'
      : `${ready.length} of ${processes.length} ready, version ${versions.join(', ')}`;
  const others = processes.filter((row) => processStateOf(row) !== 'ready');
  return [
    line(`${label('Processes')}${summary}`),
    ...others.map((row) => {
      const { host, pid, roles, failures, isSeen, seenAt } = row;
      const why = isSeen
        ? `not ready: ${failures.join('; ')}`
        : `missing, last seen ${ago(seenAt, nowMs)}`;
      return line(`  ${host}:${pid}  ${roles.join(', ')}  ${why}`, 'bad');
    }),
  ];
}

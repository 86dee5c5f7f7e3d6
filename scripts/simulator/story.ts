/** Prints a failing life: what was planned, what happened, and what is broken. */
import { describe, type LifeResult, live } from './life.ts';
import type { Plan, PlannedStep } from './plan.ts';

const MAX_LINES = 120;

export async function writeStory(plan: Plan): Promise<readonly string[]> {
  const { lines, problems, phase } = await live(plan, true);
  const shown = lines.filter((line) => !IDLE.test(line));
  const left = Math.max(0, shown.length - MAX_LINES);
  return [
    ...planLines(plan),
    '',
    'What happened, in virtual seconds:',
    ...(left > 0 ? [`  (${left} earlier lines)`] : []),
    ...shown.slice(-MAX_LINES).map((line) => `  ${line}`),
    '',
    `What is broken ${phase === 'faults' ? 'during the faults' : 'after everything healed'}:`,
    ...problems.map((problem) => `  ${problem}`),
  ];
}

/** Polling that changes nothing. */
const IDLE =
  /isPaused|claimDue \(commits\)|tryLockFeed|publishChanges$|readDueBefore|claimOverdue|readChanges|readLastNumber|lockUnalerted|lockAwaitingExcesses/;

function planLines({ payments, faults, pace }: Plan): readonly string[] {
  return [
    `What was planned (delays: ${pace}):`,
    ...payments.flatMap(({ name, order, amountMinor, steps }) => [
      `  ${name} of ${amountMinor}, ${order === undefined ? 'without an order' : `order ${order}`}`,
      ...steps.map((step) => `    ${at(step.atMs)}  ${stepText(step)}`),
    ]),
    ...(faults.length === 0 ? ['  no faults'] : []),
    ...faults.map((fault) => `  ${at(fault.atMs)}  ${describe(fault)}`),
  ];
}

function stepText({ does }: PlannedStep): string {
  switch (does.name) {
    case 'is refunded':
      return `is refunded, refund ${does.number} of ${does.amountMinor}`;
    case 'refund succeeds':
    case 'refund fails':
      return `${does.name}, refund ${does.number}`;
    default:
      return does.name;
  }
}

function at(ms: number): string {
  return (ms / 1000).toFixed(3).padStart(8);
}

/** The first line of a result. */
export function summaryOf({ problems, phase }: LifeResult): string {
  const when = phase === 'faults' ? 'during faults' : 'after everything healed';
  return `${when}: ${problems[0]}`;
}

/** Prints what an event changed. */
import { formatMoney } from '../../contract/money.ts';
import { type EventChanges, MAX_OF_EVENT } from '../../trail/eventChanges.ts';
import { effectText, noChangeText } from '../../trail/eventChangesText.ts';
import { printLine } from '../invocation.ts';

export function printEventChanges(changes: EventChanges): void {
  for (const line of linesOf(changes)) printLine(line);
  if (!changes.isComplete) printLine(`Only the first ${MAX_OF_EVENT} of each kind are listed.`);
  printLine('');
}

function linesOf(changes: EventChanges): readonly string[] {
  const { noChange } = changes;
  return [
    ...(noChange === undefined ? ['It changed:'] : [noChangeText(noChange)]),
    ...changes.resources.map(({ kind, id, effect }) =>
      effect === undefined ? `${kind} ${id}` : `${kind} ${id}: ${effectText(effect)}`,
    ),
    ...changes.changes.map(
      ({ number, kind, id, change, previousStatus, status }) =>
        `change ${number}: ${kind} ${id}, ` +
        (change === 'status' ? `${previousStatus ?? 'new'} → ${status}` : `${status}, as before`),
    ),
    ...changes.transfers.map(
      ({ id, kind, leg, amountMinor, currency, debit, credit }) =>
        `transfer ${id}: ${kind} ${leg}, ${formatMoney(amountMinor, currency)}, debit ${debit}, credit ${credit}`,
    ),
    ...changes.orderWebhooks.map(
      ({ id, content, state }) =>
        `order webhook ${id}: ${content.kind === 'order' ? content.type : ''}, ${state}`,
    ),
    ...changes.findingsOpened.map(findingLine('opened')),
    ...changes.findingsClosed.map(findingLine('closed')),
    ...changes.alertsOpened.map(alertLine('opened')),
    ...changes.alertsResolved.map(alertLine('resolved')),
  ];
}

const findingLine =
  (how: string) =>
  ({ id, class: name, subject }: EventChanges['findingsOpened'][number]): string =>
    `finding ${id} ${how}: ${name}, ${subject}`;

const alertLine =
  (how: string) =>
  ({ id, rule, sentence }: EventChanges['alertsOpened'][number]): string =>
    `alert ${id} ${how}: ${rule}. ${sentence}`;

/**
 * The alerts of the overview, one line each. Many alerts of one rule are one line, so that a burst does
 * not hide the others.
 */

import { moneyOf } from '../alerts/domain/alert.ts';
import { ruleTitle } from '../alerts/domain/ruleTitles.ts';
import type { AlertRow, RuleCount } from '../alerts/store/alertRows.ts';
import { headlineOf } from '../notify/domain/headline.ts';

export interface AlertLine {
  readonly key: string;
  readonly severity: AlertRow['severity'];
  readonly text: string;
  readonly rule: AlertRow['rule'];
  /** Its number; undefined if the line is about several. */
  readonly alert: number | undefined;
  readonly openSince: Date;
  /** A person handles it. */
  readonly isHandled: boolean;
}

/** More alerts of a rule than this are one line. */
const SINGLES_PER_RULE = 3;

/**
 * @param alerts unresolved ones, the most severe first
 * @param groups all unresolved ones by rule, in the same order
 */
export function alertLines(
  alerts: readonly AlertRow[],
  groups: readonly RuleCount[],
): readonly AlertLine[] {
  return groups.flatMap((group) => {
    const singles = alerts.filter(
      ({ rule, severity }) => rule === group.rule && severity === group.severity,
    );
    // A burst of others may have left no room for these.
    const areAllRead = singles.length === group.alerts;
    return group.alerts <= SINGLES_PER_RULE && areAllRead
      ? singles.map(lineOf)
      : [lineOfGroup(group)];
  });
}

function lineOf(alert: AlertRow): AlertLine {
  const { id, rule, severity, subject, orderId, deadlineAt, openedAt, state } = alert;
  return {
    key: `alert ${id}`,
    severity,
    rule,
    alert: id,
    text: headlineOf({
      rule,
      subject,
      orderId,
      type: 'opened',
      deadlineAt: deadlineAt?.toISOString() ?? null,
      money: moneyOf(alert),
    }),
    openSince: openedAt,
    isHandled: state === 'acknowledged',
  };
}

function lineOfGroup({ rule, severity, alerts, newest, oldestAt }: RuleCount): AlertLine {
  return {
    key: `rule ${rule} ${severity}`,
    severity,
    rule,
    alert: alerts === 1 ? newest : undefined,
    text: alerts === 1 ? ruleTitle(rule) : `${ruleTitle(rule)}: ${alerts} alerts`,
    openSince: oldestAt,
    isHandled: false,
  };
}

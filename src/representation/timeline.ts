/** The timeline of an order or a resource as JSON. */

import type { TimeBasis } from '../ledger/domain/effectiveTimes.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import { type Cause, type TimelineEntry, timelineBy } from '../ledger/domain/timeline.ts';
import type { Timeline } from '../ledger/read/timeline.ts';
import { declineJson } from './decline.ts';
import { detailJson } from './detail.ts';

/** A timeline in the order of a basis. */
export function timelineJson({ timeline, isTimelineComplete }: Timeline, basis: TimeBasis) {
  return {
    timeline: timelineBy(basis, timeline).map(timelineEntryJson),
    timeline_complete: isTimelineComplete,
  };
}

function timelineEntryJson(entry: TimelineEntry) {
  const common = { at: formatInstant(entry.atMicros), text: entry.text };
  switch (entry.type) {
    case 'event':
      return {
        type: entry.type,
        ...common,
        number: entry.number,
        event_id: entry.eventId,
        event_type: entry.eventType,
      };
    case 'snapshot':
      return {
        type: entry.type,
        ...common,
        kind: entry.kind,
        id: entry.id,
        effective_at: formatInstant(entry.effectiveMicros),
        status: entry.status,
        stage: entry.stage,
        currency: entry.currency,
        amount: entry.amountMinor,
        amount_received: entry.receivedMinor,
        decline: declineJson(entry),
        reason: entry.reason,
        is_current: entry.isCurrent,
        cause: causeJson(entry.cause),
      };
    case 'transfer':
      return {
        type: entry.type,
        ...common,
        kind: entry.kind,
        id: entry.id,
        effective_at: entry.effectiveMicros === null ? null : formatInstant(entry.effectiveMicros),
        leg: entry.leg,
        debit: entry.debit,
        credit: entry.credit,
        currency: entry.currency,
        amount: entry.amountMinor,
        amount_cumulative: entry.cumulativeMinor,
        cause: entry.cause && causeJson(entry.cause),
      };
    case 'status':
      return {
        type: entry.type,
        ...common,
        status: entry.status,
        previous_status: entry.previousStatus,
        cause: entry.cause && causeJson(entry.cause),
      };
    case 'registered':
      return {
        type: entry.type,
        ...common,
        currency: entry.currency,
        amount: entry.amountMinor,
        by: entry.by,
      };
    case 'alert_opened':
    case 'alert_acknowledged':
    case 'alert_resolved': {
      const { type, number, rule, subject, severity } = entry;
      return { type, ...common, number, rule, subject, severity };
    }
    case 'action':
      return { ...common, ...actionJson(entry) };
    case 'finding_opened':
    case 'finding_closed': {
      const { type, number, subject, detail } = entry;
      return { type, ...common, number, class: entry.class, subject, detail: detailJson(detail) };
    }
  }
}

function actionJson(entry: Extract<TimelineEntry, { readonly type: 'action' }>) {
  const { type, number, action, subjectKind, subjectId, by, role, reason, result, attempt } = entry;
  const subject = { kind: subjectKind, id: subjectId };
  return { type, number, action, subject, by, role, reason, result, attempt };
}

function causeJson({ source, eventNumber, eventId }: Cause) {
  return { source, event_number: eventNumber, event_id: eventId };
}

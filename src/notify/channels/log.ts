/** Writes messages to the log, for installations that collect it or have no other channel. */

import type { Severity } from '../../alerts/domain/alert.ts';
import { type Log, whenWritten } from '../../platform/log.ts';
import type { Installation } from '../domain/links.ts';
import type { Content } from '../domain/message.ts';
import { textOf } from '../domain/text.ts';
import { ATTEMPT_TIMEOUT_MS, type Channel } from './channel.ts';

/** @param timeoutMs how long an output may take that accepts nothing */
export function createLogChannel(
  log: Log,
  installation: Installation,
  timeoutMs = ATTEMPT_TIMEOUT_MS,
): Channel {
  return {
    name: 'log',
    slots: 1,
    send: async ({ id, content }) => {
      const { title, lines, links } = textOf(content, installation);
      const severity = severityOf(content);
      // The level error is for faults of the program; a dispute is none, however severe.
      const level = severity === 'info' ? 'info' : 'warn';
      const url = links[0]?.url;
      const fields = { messageId: id, severity, installation: installation.name, title, lines };
      log[level]({ ...fields, ...(url !== undefined && { url }) }, 'alert');
      const isShown = log.isLevelEnabled(level);
      const problem = isShown ? await whenWritten(log, timeoutMs) : undefined;
      return problem === undefined
        ? { outcome: 'delivered', response: 'written' }
        : { outcome: 'unavailable', response: `the log cannot be written: ${problem}` };
    },
  };
}

/** A resolved alert needs no attention, however severe it was. */
function severityOf(content: Content): Severity {
  switch (content.kind) {
    case 'alert':
      return content.alert.type === 'opened' || content.alert.type === 'reminder'
        ? content.alert.severity
        : 'info';
    case 'digest':
      return content.severity;
    case 'summary':
    case 'order':
      return 'info';
    case 'test':
      // A test must appear wherever alerts do (LOG_LEVEL=warn).
      return 'warning';
  }
}

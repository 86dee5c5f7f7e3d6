/** Messages in the log, for installations that collect it, and where nothing else is set. */

import type { Severity } from '../../alerts/domain/alert.ts';
import type { Log } from '../../platform/log.ts';
import type { Content } from '../domain/message.ts';
import { textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';

export function createLogChannel(log: Log): Channel {
  return {
    name: 'log',
    slots: 1,
    send: ({ id, content }) => {
      const { title, lines } = textOf(content);
      const severity = severityOf(content);
      // Errors are what this program does wrong; a dispute is none, however grave.
      const level = severity === 'info' ? 'info' : 'warn';
      log[level]({ messageId: id, severity, title, lines }, 'alert');
      return Promise.resolve({ outcome: 'delivered', answer: 'written' });
    },
  };
}

/** What is over needs nobody's attention, however grave it was. */
function severityOf(content: Content): Severity {
  switch (content.kind) {
    case 'alert':
      return content.alert.occasion === 'opened' || content.alert.occasion === 'reminder'
        ? content.alert.severity
        : 'info';
    case 'alerts':
      return content.severity;
    case 'summary':
    case 'order':
      return 'info';
    case 'test':
      // It shows wherever alerts do (LOG_LEVEL=warn), or it would test nothing.
      return 'warning';
  }
}

/** The way between the pages of the system. */
import type { Permission } from '../../access/domain/roles.ts';
import {
  auditHref,
  erasuresHref,
  queuesHref,
  retentionHref,
  scheduleHref,
  sessionsHref,
  settingsHref,
  systemHref,
  tokensHref,
} from '../links.ts';
import type { Crumb, Viewer } from '../page.ts';

export const SYSTEM_CRUMB: Crumb = { label: 'System', href: systemHref() };

interface Place {
  readonly label: string;
  readonly href: string;
  readonly permission: Permission;
}

const PLACES: readonly Place[] = [
  { label: 'Checks', href: systemHref(), permission: 'read' },
  { label: 'Queues', href: queuesHref(), permission: 'read' },
  { label: 'Schedule', href: scheduleHref(), permission: 'read' },
  { label: 'Data and retention', href: retentionHref(), permission: 'read' },
  { label: 'Settings', href: settingsHref(), permission: 'read_audit' },
  { label: 'Audit log', href: auditHref(), permission: 'read_audit' },
  { label: 'Erasures', href: erasuresHref(), permission: 'read_audit' },
  { label: 'Tokens', href: tokensHref(), permission: 'manage_tokens' },
  { label: 'Sessions', href: sessionsHref(), permission: 'manage_tokens' },
];

export function SystemNav({
  viewer,
  current,
}: {
  readonly viewer: Viewer;
  /** The address of the page that shows it. */
  readonly current: string;
}) {
  return (
    <nav class="parts" aria-label="System">
      <ul>
        {PLACES.filter(({ permission }) => viewer.may(permission)).map(({ label, href }) => (
          <li key={href}>
            <a href={href} aria-current={href === current ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
